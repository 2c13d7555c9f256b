package io.verbena.cli.autoscale;

import io.verbena.cli.CommandLines;
import io.verbena.cli.autoscale.launch.Launcher;
import io.verbena.cli.autoscale.policy.ScaleLimits;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Autoscalers of two meta servers of which one leads, then the other, on nodes that take their time. */
class LeaderAutoscalerTest
{
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long TICK_NS = 10 * MS;
    private static final long PERIOD_NS = 500 * MS;
    private static final long LAUNCH_NS = 5_000 * MS;
    private static final long COOL_DOWN_MS = 4_000;
    /** What the load needs at the target. */
    private static final int NEEDED = 3;
    private static final double USE = 1.6;
    private static final int SEEDS = Integer.getInteger("verbena.autoscale.seeds", 100);

    /** What is wrong with a twin. */
    private enum Flaw
    {
        NONE,
        /** A new leader acts at once. */
        NO_HOLD,
        /** What starts and ends nodes does not look at the lease. */
        NO_LOOK
    }

    /** A node that was started. */
    private record Node(String name, long readyNs)
    {
    }

    /** The cluster, in virtual time: leases that end at any moment, and starts that go on behind them. */
    private static final class World
    {
        private final SplittableRandom random;
        private final Flaw flaw;
        private final List<Node> nodes = new ArrayList<>();
        private final List<Member> members = new ArrayList<>();
        private long nowNs = 1_000;
        private long number;
        private int holder = -1;
        private long changeNs = 1_000;
        private int mostNodes;
        private int actsOfOthers;
        private int leaders;
        private int changes;
        private int started;
        private boolean mayChange = true;
        private boolean losesLeaseAfterStart;
        private long lossNs = Long.MAX_VALUE;

        World(final long seed, final Flaw flaw)
        {
            random = new SplittableRandom(seed);
            this.flaw = flaw;
            members.add(new Member(this, 0));
            members.add(new Member(this, 1));
        }

        void add(final long readyNs)
        {
            nodes.add(new Node("n-" + ++started, readyNs));
            mostNodes = Math.max(mostNodes, nodes.size());
        }

        long leadership(final int member)
        {
            return member == holder ? number : -1;
        }

        /** Time goes on; so does who is not in a step. */
        void tick()
        {
            nowNs += TICK_NS;
            if (nowNs >= lossNs)
            {
                holder = -1;
                lossNs = Long.MAX_VALUE;
            }
            if (mayChange && nowNs - changeNs >= 0)
            {
                final boolean isHeld = holder >= 0;
                holder = isHeld ? -1 : random.nextInt(2);
                number += isHeld ? 0 : 1;
                leaders += isHeld ? 0 : 1;
                changeNs = nowNs + (isHeld ? 750 * MS : random.nextLong(20_000) * MS);
            }
            members.forEach(Member::turn);
        }

        void pause(final long mostNs)
        {
            final long endNs = nowNs + random.nextLong(mostNs);
            while (nowNs - endNs < 0)
            {
                tick();
            }
        }

        void run(final long lengthNs)
        {
            final long endNs = nowNs + lengthNs;
            while (nowNs - endNs < 0)
            {
                tick();
            }
        }
    }

    /** A meta server with its autoscaler. */
    private static final class Member
    {
        private final World world;
        private final int index;
        private final LeaderAutoscaler autoscaler;
        private final List<DecisionRecord> records = new ArrayList<>();
        private boolean isInStep;
        private long nextNs;
        private long busyNs;
        private long lastNs;
        private int opened;
        private int closed;
        private String failure;
        private RuntimeException error;

        Member(final World world, final int index)
        {
            this.world = world;
            this.index = index;
            autoscaler = new LeaderAutoscaler(() -> world.leadership(index), (permission) ->
                new Nodes(this, permission),
                (fleet) -> new Autoscaler(fleet, new ScaleLimits(1, 10, 0.6, 0, 1_000, 6_000, 4, COOL_DOWN_MS), 500, 0,
                    false, () -> world.nowNs, () -> 1),
                records::add, Flaw.NO_HOLD == world.flaw ? 0 : TimeUnit.NANOSECONDS.toMillis(LAUNCH_NS),
                () -> world.nowNs);
        }

        void turn()
        {
            if (!isInStep && world.nowNs - nextNs >= 0)
            {
                isInStep = true;
                autoscaler.step();
                isInStep = false;
                nextNs = world.nowNs + PERIOD_NS;
            }
        }

        /** A command that starts nodes, or ends some. */
        private final class Commands implements Launcher
        {
            private void act()
            {
                world.actsOfOthers += world.leadership(index) < 0 ? 1 : 0;
                world.changes++;
                if (null != failure)
                {
                    throw new CommandFailedException(ExitStatus.UNAVAILABLE, failure, null);
                }
            }

            @Override
            public void start(final int count, final List<String> present)
            {
                act();
                world.lossNs = world.losesLeaseAfterStart ? world.nowNs + 5 * TICK_NS : world.lossNs;
                for (int i = 0; i < count; i++)
                {
                    world.add(world.nowNs + world.random.nextLong(LAUNCH_NS));
                }
            }

            @Override
            public void end(final List<String> names)
            {
                act();
                world.nodes.removeIf((node) -> names.contains(node.name()));
            }

            @Override
            public int coming(final List<String> present)
            {
                return 0;
            }

            @Override
            public void giveUp(final List<String> present)
            {
                act();
            }

            @Override
            public boolean owns(final String name)
            {
                return true;
            }

            @Override
            public boolean restarts()
            {
                return false;
            }
        }
    }

    /** As the fleet of a cluster: each look and each step takes time. */
    private static final class Nodes implements Fleet
    {
        private final Member member;
        private final World world;
        private final Launcher launcher;

        Nodes(final Member member, final ChangePermission permission)
        {
            this.member = member;
            world = member.world;
            member.opened++;
            final UnaryOperator<Launcher> guard = Flaw.NO_LOOK == world.flaw ? UnaryOperator.identity() :
                (commands) -> new LeadersLauncher(commands, permission);
            launcher = guard.apply(member.new Commands());
        }

        private List<Node> live()
        {
            return world.nodes.stream().filter((node) -> world.nowNs - node.readyNs() >= 0).toList();
        }

        @Override
        public State observe()
        {
            world.pause(300 * MS);
            if (null != member.error)
            {
                throw member.error;
            }
            final List<Node> live = live();
            final double share = Math.min(1, USE / Math.max(1, live.size()));
            member.busyNs += (long)(share * (world.nowNs - member.lastNs));
            member.lastNs = world.nowNs;
            final List<DemandSample> samples = live.stream().map((node) -> new DemandSample(node.name(), world.nowNs,
                member.busyNs / 1_000, member.busyNs, member.busyNs, 64, 0, Collections.nCopies(26, 0L),
                Collections.nCopies(26, 0L))).toList();
            return new State(live.size(), 0, List.of(), samples, null);
        }

        @Override
        public void resize(final int wanted, final Consumer<String> progress)
        {
            world.pause(300 * MS);
            final List<Node> live = live();
            if (wanted < live.size())
            {
                launcher.end(live.stream().map(Node::name).limit(live.size() - wanted).toList());
                return;
            }
            launcher.start(wanted - live.size(), List.of());
            while (live().size() < wanted)
            {
                world.tick();
                if (world.leadership(member.index) < 0) // as the thread that watches the lease does
                {
                    throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", null);
                }
            }
        }

        @Override
        public String keepSpares(final int spares)
        {
            return null;
        }

        @Override
        public void close()
        {
            member.closed++;
        }
    }

    private static World run(final long seed, final Flaw flaw)
    {
        final World world = new World(seed, flaw);
        world.add(0);
        world.run(200_000 * MS);
        return world;
    }

    @Test
    void shouldNeverHaveTwoLeadersChangeTheNumber()
    {
        int changes = 0;
        int leaders = 0;
        for (int seed = 1; seed <= SEEDS; seed++)
        {
            final World world = run(seed, Flaw.NONE);
            assertThat(world.mostNodes).as("nodes, seed %d", seed).isLessThanOrEqualTo(NEEDED);
            assertThat(world.nodes).as("seed %d", seed).isNotEmpty();
            assertThat(world.actsOfOthers).as("changes by who does not lead, seed %d", seed).isZero();
            changes += world.changes;
            leaders += world.leaders;
        }
        assertThat(changes).isGreaterThan(SEEDS);
        assertThat(leaders).isGreaterThan(5 * SEEDS);
    }

    /** Bad twins: each flaw is seen. */
    @ParameterizedTest
    @CsvSource({"NO_HOLD", "NO_LOOK"})
    void shouldSeeTwoLeadersThatChangeTheNumber(final Flaw flaw)
    {
        final long seen = LongStream.rangeClosed(1, SEEDS).mapToObj((seed) -> run(seed, flaw))
            .filter((world) -> Flaw.NO_HOLD == flaw ? world.mostNodes > NEEDED : world.actsOfOthers > 0).count();
        assertThat(seen).isPositive();
    }

    private static World alone()
    {
        final World world = new World(7, Flaw.NONE);
        world.mayChange = false;
        return world;
    }

    @Test
    void shouldDoNothingWhileAnotherOneLeads()
    {
        final World world = alone();
        world.run(60_000 * MS);
        assertThat(world.members).allMatch((member) -> 0 == member.opened && member.records.isEmpty());
    }

    @Test
    void shouldRecordWhatItWouldDoUntilNothingComesOfTheLeaderBeforeThenDoIt()
    {
        final World world = alone();
        world.holder = 0;
        world.run(LAUNCH_NS - PERIOD_NS);
        final Member leader = world.members.getFirst();
        assertThat(world.nodes).isEmpty();
        assertThat(leader.records).isNotEmpty().allMatch((record) -> DecisionRecord.DELAYED.equals(record.outcome()) &&
            record.detail().contains("has just begun to lead"));
        world.run(2 * LAUNCH_NS);
        assertThat(world.nodes).isNotEmpty();
        assertThat(leader.records).last().extracting(DecisionRecord::outcome).isNotEqualTo(DecisionRecord.DELAYED);
    }

    /** What ended nodes just before is not known: the down window and the cool-down begin anew with the leadership. */
    @Test
    void shouldEndNodesOnlyAfterAWindowOfItsOwn()
    {
        final World world = alone();
        for (int i = 0; i < 6; i++)
        {
            world.add(0);
        }
        world.holder = 0;
        world.run(30_000 * MS);
        assertThat(world.nodes).hasSize(NEEDED);
        world.add(0);
        world.add(0);
        world.holder = 1;
        world.number++;
        world.run(5_500 * MS);
        assertThat(world.nodes).hasSize(NEEDED + 2);
        world.run(30_000 * MS);
        assertThat(world.nodes).hasSize(NEEDED);
    }

    /** The same member leads again: another one may have led in between. */
    @Test
    void shouldBeginAnewWithEachLeadership()
    {
        final World world = alone();
        world.add(0);
        world.holder = 0;
        world.run(2_000 * MS);
        world.number += 2;
        world.run(2_000 * MS);
        final Member member = world.members.getFirst();
        assertThat(member.opened).isEqualTo(2);
        assertThat(member.closed).isEqualTo(1);
        world.holder = -1;
        world.run(2_000 * MS);
        assertThat(member.closed).isEqualTo(2);
    }

    /** As on a disk that stands still for a second every now and then: the lease runs out, and is extended. */
    @Test
    void shouldNotWaitAgainWhenNobodyElseHasLed()
    {
        final World world = alone();
        for (int i = 0; i < NEEDED; i++)
        {
            world.add(0);
        }
        world.holder = 0;
        world.run(2 * LAUNCH_NS);
        final Member member = world.members.getFirst();
        world.holder = -1;
        world.run(1_000 * MS);
        assertThat(world.changes).isZero();
        world.holder = 0;
        world.nodes.removeLast();
        member.records.clear();
        world.run(LAUNCH_NS - PERIOD_NS);
        assertThat(member.opened).isEqualTo(2);
        assertThat(world.changes).isEqualTo(1);
        assertThat(member.records).noneMatch((record) -> DecisionRecord.DELAYED.equals(record.outcome()));
    }

    @Test
    void shouldWaitAgainWhenAChangeWasBrokenOff()
    {
        final World world = alone();
        world.add(0);
        world.holder = 0;
        world.losesLeaseAfterStart = true;
        world.run(3 * LAUNCH_NS);
        assertThat(world.changes).as("nodes were being started").isEqualTo(1);
        assertThat(world.holder).isNegative();
        final Member member = world.members.getFirst();
        world.losesLeaseAfterStart = false;
        world.nodes.removeIf((node) -> world.nowNs - node.readyNs() < 0 || !"n-1".equals(node.name()));
        world.holder = 0;
        member.records.clear();
        world.run(LAUNCH_NS - PERIOD_NS);
        assertThat(member.records).last().extracting(DecisionRecord::outcome).isEqualTo(DecisionRecord.DELAYED);
        assertThat(world.changes).isEqualTo(1);
    }

    /** The one connection that could activate a spare, or have a node leave, is not even opened. */
    @Test
    void shouldActivateNothingWithoutTheLeadership()
    {
        final int[] opened = {0};
        try (ClusterNodes nodes = new ClusterNodes(() ->
        {
            opened[0]++;
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "none", null);
        }, new ChangePermission(() -> false)))
        {
            assertThatThrownBy(() -> nodes.activate(1, 2)).hasMessageContaining("does not lead any more");
            assertThatThrownBy(() -> nodes.leave(null)).hasMessageContaining("does not lead any more");
            assertThat(opened[0]).isZero();
            assertThatThrownBy(nodes::list).hasMessage("none");
        }
    }

    @Test
    void shouldTryAgainWhenTheLauncherFailsOrAnythingElseDoes()
    {
        final World world = alone();
        world.holder = 0;
        final Member member = world.members.getFirst();
        member.failure = "no such unit";
        world.run(4 * LAUNCH_NS);
        assertThat(member.records).anyMatch((record) -> DecisionRecord.FAILED.equals(record.outcome()) &&
            "no such unit".equals(record.detail()));
        assertThat(world.nodes).isEmpty();
        assertThat(world.changes).as("with growing distance").isBetween(2, 8);
        assertThat(member.opened).isEqualTo(1);

        member.error = new IllegalStateException("a fault");
        world.run(5_000 * MS);
        assertThat(member.opened).isGreaterThan(1);
        assertThat(member.closed).isGreaterThanOrEqualTo(member.opened - 1);
        member.error = new CommandFailedException(ExitStatus.UNAVAILABLE, "no answer", null);
        world.run(5_000 * MS);
        final int opened = member.opened;
        member.error = null;
        member.failure = null;
        world.run(4 * LAUNCH_NS);
        assertThat(member.opened).as("a cluster that does not answer is waited for").isEqualTo(opened);
        assertThat(world.nodes).isNotEmpty();
    }

    @TempDir
    private Path directory;

    private CommandLines.Result start(final String settings, final String... more) throws IOException
    {
        final Path file = directory.resolve("autoscale.conf");
        Files.writeString(file, settings);
        final List<String> arguments = new ArrayList<>(List.of("meta-server", "--listen", "verbena://127.0.0.1:0",
            "--fabric", "soft:" + directory.resolve("fabric"), "--data", directory.resolve("data").toString(),
            "--autoscale", file.toString()));
        arguments.addAll(List.of(more));
        return CommandLines.run(arguments);
    }

    @Test
    void shouldRefuseSettingsThatCannotBeMeant() throws IOException
    {
        for (final String wrong : List.of("maximum=3", "max=0", "max=x", "launcher=x", "launcher=command",
            "launcher=command\nstart=x\nstop=y {name}", "min=4\nmax=3", "max=3\nmax=4"))
        {
            final CommandLines.Result refused = start(wrong);
            assertThat(refused.status()).as(wrong).isIn(ExitStatus.USAGE, ExitStatus.BAD_DATA);
            assertThat(refused.err()).as(wrong).hasLineCount(1);
            assertThat(directory.resolve("data").resolve("meta")).as("%s: nothing is made before", wrong)
                .doesNotExist();
        }
        assertThat(start("maximum=3").err()).contains("--autoscale ", "line 1: 'autoscale' has no option --maximum");
        final CommandLines.Result missing = CommandLines.run(List.of("meta-server", "--data",
            directory.resolve("data").toString(), "--listen", "verbena://127.0.0.1:0", "--autoscale", "/nonexistent"));
        assertThat(missing.status()).as(missing.err()).isEqualTo(ExitStatus.BAD_DATA);
        assertThat(missing.err()).contains("--autoscale /nonexistent");
    }
}
