package io.verbena.memory;

import io.verbena.meta.membership.ConductorOptions;
import io.verbena.meta.membership.FencingRound;
import io.verbena.meta.membership.Member;
import io.verbena.meta.membership.MembershipConductor;
import io.verbena.meta.membership.MembershipOptions;
import io.verbena.meta.membership.MembershipRefusedException;
import io.verbena.meta.membership.ViewConductor;
import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.ReplicatedState;
import io.verbena.meta.store.StoredSecrets;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.protocol.view.LeftView;
import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.rdma.verbs.DeviceAddress;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * One group under a simulated network: the meta server's state machines on a replicated store, memory nodes' closing of
 * views, compute nodes that write, read, leave and reconcile. Messages and one-sided requests come late, control
 * messages also twice or never; processes end, stand still and return between any two steps; clocks drift apart.
 */
final class ViewRun
{
    static final int GROUP = 1;
    static final int SLOTS = 2;
    static final long MS = 1_000_000;
    static final long LEASE_NS = 1_000 * MS;
    private static final int COMPUTE_NODES = 3;
    private static final int STEPS = 1_200;
    private static final int QUIET_STEPS = 3_000;
    /** How often a memory node is to come in when all is well, and in how many steps at most that is disturbed. */
    private static final int ENTRIES = 3;
    private static final int ENTRY_STEPS = 100;

    /** Something that happens at a time. */
    record Flight(long atNs, long order, Runnable arrival)
    {
    }

    /** A clock of its own, and times at which nothing is done. */
    abstract class Actor
    {
        private final double rate = 0.96 + 0.08 * random.nextDouble();
        private final long offsetNs = random.nextLong(1L << 40);
        long stillUntilNs;
        /** Counts processes: what was sent to an earlier one does not arrive. */
        int process;

        long nanoTime()
        {
            return offsetNs + (long)(realNs * rate);
        }

        boolean isStill()
        {
            return realNs < stillUntilNs;
        }

        /** Control message to this actor: late, twice, or never; never to another process of it. */
        void send(final Runnable message)
        {
            final int to = process;
            for (int copies = isQuiet ? 1 : random.nextInt(10) == 0 ? 2 : random.nextInt(9) == 0 ? 0 : 1;
                copies > 0; copies--)
            {
                deliver(to, message);
            }
        }

        private void deliver(final int to, final Runnable message)
        {
            later(delayNs(), () ->
            {
                if (to == process && !isStill())
                {
                    message.run();
                }
                else if (to == process)
                {
                    deliver(to, message);
                }
            });
        }
    }

    /** Applies writes as a member of a group that leads does; its host may end behind any of them. */
    private final class Store implements MetaStore
    {
        private final long leadership;

        private Store(final long leadership)
        {
            this.leadership = leadership;
        }

        @Override
        public MetaState load()
        {
            return truth.load();
        }

        @Override
        public void write(final MetaBatch batch)
        {
            if (!truth.apply(1, truth.index() + 1, MetaCommand.write(leadership, batch)))
            {
                throw new DurableWriteError("deposed", null);
            }
            onRecord();
            if (!isQuiet && random.nextInt(60) == 0)
            {
                throw new DurableWriteError("host ended", null);
            }
        }

        @Override
        public void close()
        {
        }
    }

    /** The meta server that leads, or led. */
    final class Meta extends Actor implements ViewConductor.ViewCaller
    {
        private final MembershipConductor conductor;
        private boolean hasEnded;

        private Meta()
        {
            truth.apply(1, truth.index() + 1, MetaCommand.takeLeadership(truth.leadership().number(), "m"));
            final Store store = new Store(truth.leadership().number());
            final MetaState state = store.load();
            conductor = new MembershipConductor(
                MembershipConductor.openLedger(store, state, 7, StoredSecrets.first(IdentitySecret.read(
                    new UnsafeBuffer(new byte[16]), 0), 0)),
                state, new ConductorOptions(new MembershipOptions(LEASE_NS, 150 * MS, 64), MS, MS, 30 * MS, false),
                new UnheardMembership(), nanoTime());
        }

        /** Runs a part of its work; it halts when a write fails. */
        private void run(final Runnable work)
        {
            try
            {
                if (!hasEnded)
                {
                    work.run();
                }
            }
            catch (final DurableWriteError ex)
            {
                hasEnded = true;
            }
            catch (final MembershipRefusedException ex)
            {
                // Whoever asked gets no answer, and asks again.
            }
        }

        private void act(final boolean isLeading)
        {
            run(() ->
            {
                if (isLeading)
                {
                    conductor.doWork(nanoTime(), this::fence);
                }
                conductor.views().doWork(nanoTime(), this);
            });
        }

        private void fence(final int memoryNodeId, final FencingRound round)
        {
            final PeerIdentity whom = new PeerIdentity(round.nodeId(), round.incarnation());
            later(100 * MS, () -> run(() -> round.onAnswer(memoryNodeId, false, nanoTime())));
            memory(memoryNodeId).send(() ->
            {
                if (memory(memoryNodeId).fence(whom))
                {
                    send(() -> run(() -> round.onAnswer(memoryNodeId, true, nanoTime())));
                }
            });
        }

        @Override
        public void close(final PeerIdentity member, final View view)
        {
            ask(member, view, ViewMemory::close);
        }

        @Override
        public void fill(final PeerIdentity member, final View view)
        {
            ask(member, view, ViewMemory::fill);
        }

        private void ask(final PeerIdentity member, final View view, final BiPredicate<ViewMemory, View> asked)
        {
            final ViewMemory node = memory(member.nodeId());
            node.send(() ->
            {
                if (node.identity.equals(member) && asked.test(node, view))
                {
                    send(() -> run(() -> conductor.views().onConfirmed(member, view)));
                }
            });
        }

        /** Registers a node, or registers it again. */
        void register(final NodeRole role, final int nodeId, final long memoryId, final Actor from,
            final Consumer<PeerIdentity> answer)
        {
            run(() ->
            {
                final NodeRegistration announced = new NodeRegistration(nodeId, role,
                    new DeviceAddress(1, ++endpoints), 1, new RemoteRegion(4096, 4096, 1), memoryId, 7,
                    ReadTargetAddress.NONE);
                final Member member = 0 == nodeId ? conductor.register(announced, nanoTime()) :
                    conductor.rejoin(announced, nodeId, nanoTime());
                final PeerIdentity identity = member.node().identity();
                from.send(() -> answer.accept(identity));
            });
        }

        void heartbeat(final PeerIdentity node, final int since, final List<LeftView> left,
            final Runnable report, final Actor from, final Consumer<List<View>> answer,
            final Runnable refused)
        {
            run(() ->
            {
                try
                {
                    conductor.heartbeat(node.nodeId(), node.incarnation(), 0, nanoTime());
                }
                catch (final MembershipRefusedException ex)
                {
                    from.send(refused);
                    return;
                }
                conductor.views().onReturned(node, since);
                conductor.views().onLeft(node, left);
                report.run();
                final List<View> views = conductor.views().views();
                from.send(() -> answer.accept(views));
            });
        }

        MembershipConductor conductor()
        {
            return conductor;
        }

        Set<PeerIdentity> liveNodes()
        {
            final Set<PeerIdentity> live = new HashSet<>();
            conductor.table().members().stream().filter(Member::isLive)
                .forEach((member) -> live.add(member.node().identity()));
            return live;
        }
    }

    final Random random;
    final Set<ViewCompute.Flaw> flaws;
    long realNs;
    boolean isQuiet;
    Meta meta;
    /** Operations that were answered, with the view under which they were. */
    final Set<Long> answered = new HashSet<>();
    /** Those of them that were answered last. */
    final ArrayDeque<Long> latest = new ArrayDeque<>();
    long operations;
    int views;
    int attempts;
    int longest;
    /** Members that were taken back, and those of them that were the first of a group whose members were all lost. */
    int returns;
    int firstReturns;
    /** Memory nodes that came in, and views that began without one that was to come in. */
    int entries;
    int failedEntries;
    private final ReplicatedState truth = new ReplicatedState();
    private final PriorityQueue<Flight> flights = new PriorityQueue<>(
        (one, other) -> one.atNs != other.atNs ? Long.compare(one.atNs, other.atNs) :
            Long.compare(one.order, other.order));
    private final List<Meta> deposed = new ArrayList<>();
    private final List<ViewMemory> memories = new ArrayList<>();
    private final List<ViewCompute> computes = new ArrayList<>();
    private View record;
    private String problem;
    private long endpoints;
    private boolean wasToEnter;
    private long order;
    private final boolean restartsAll;

    /** With even seeds all members restart together, too. */
    ViewRun(final long seed, final ViewCompute.Flaw... flaws)
    {
        random = new Random(seed);
        restartsAll = 0 == seed % 2;
        this.flaws = Set.of(flaws);
    }

    void later(final long delayNs, final Runnable arrival)
    {
        flights.add(new Flight(realNs + delayNs, order++, arrival));
    }

    long delayNs()
    {
        return !isQuiet && 0 == random.nextInt(12) ? random.nextLong(3 * LEASE_NS) : random.nextLong(10 * MS);
    }

    /** Of requests that reconcile, of which few are made. */
    long slowNs()
    {
        return !isQuiet && 0 == random.nextInt(4) ? random.nextLong(LEASE_NS) : delayNs();
    }

    ViewMemory memory(final int nodeId)
    {
        return memories.stream().filter((each) -> each.identity.nodeId() == nodeId).findFirst().orElseThrow();
    }

    View record()
    {
        return record;
    }

    void answer(final long operation)
    {
        answered.add(operation);
        latest.add(operation);
        if (latest.size() > 20)
        {
            latest.remove();
        }
    }

    void fail(final String what)
    {
        problem = null == problem ? what + "; record " + record : problem;
    }

    /** A record was written: what holds whenever a view begins. */
    private void onRecord()
    {
        final View before = record;
        record = truth.load().views().stream().findFirst().orElse(null);
        if (null == record || record.equals(before) || null == before)
        {
            return;
        }
        if (!record.isLaterThan(before))
        {
            fail("record went back from " + before);
        }
        longest = Math.max(longest, record.attempt());
        wasToEnter |= record.hasEntering();
        attempts += ViewState.CLOSING == record.state() ? 1 : 0;
        if (record.number() == before.number() && record.survivors().size() > before.survivors().size())
        {
            returns++;
            firstReturns += before.isDeserted() ? 1 : 0;
        }
        if (record.number() > before.number())
        {
            views++;
            entries += record.members().size() > before.survivors().size() ? 1 : 0;
            failedEntries += wasToEnter && record.members().size() == before.survivors().size() ? 1 : 0;
            wasToEnter = false;
            final ViewMemory first = memory(record.members().getFirst().nodeId());
            for (final PeerIdentity member : record.members())
            {
                final ViewMemory node = memory(member.nodeId());
                if (!node.slots.equals(first.slots))
                {
                    fail("copies differ");
                }
                if (!node.all().containsAll(answered))
                {
                    fail("answered writes are lost");
                }
            }
        }
    }

    String run()
    {
        isQuiet = true;
        meta = new Meta();
        final int members = 3 + random.nextInt(2);
        for (int i = 0; i < members; i++)
        {
            memories.add(new ViewMemory(this, meta.conductor.register(new NodeRegistration(
                0, NodeRole.MEMORY_NODE, new DeviceAddress(1, ++endpoints), 1, new RemoteRegion(4096, 4096, 1), i + 1,
                7, ReadTargetAddress.NONE), meta.nanoTime()).node().identity(), i + 1));
        }
        meta.conductor.views().begin(
            View.first(GROUP, memories.stream().map((each) -> each.identity).toList()));
        isQuiet = false;
        for (int i = 0; i < COMPUTE_NODES; i++)
        {
            computes.add(new ViewCompute(this));
        }
        disturb(STEPS);
        settle();
        for (int i = 0; i < ENTRIES && null == problem; i++)
        {
            memories.forEach((each) -> enter(each.identity.nodeId()));
            disturb(random.nextInt(ENTRY_STEPS));
            settle();
        }
        return problem;
    }

    private void disturb(final int steps)
    {
        isQuiet = false;
        for (int step = 0; step < steps && null == problem; step++)
        {
            step(20 * MS);
            disturb();
        }
    }

    private void settle()
    {
        isQuiet = true;
        final long before = answered.size();
        for (int step = 0; step < QUIET_STEPS && null == problem; step++)
        {
            step(10 * MS);
            if (step > QUIET_STEPS / 6 && answered.size() > before + 10 && ViewState.ACTIVE == record.state() &&
                !record.isFilling() && meta.liveNodes().containsAll(record.members()))
            {
                return;
            }
        }
        fail("no active view");
    }

    private void enter(final int nodeId)
    {
        meta.run(() -> meta.conductor.views().enter(GROUP, nodeId));
    }

    private void startMeta()
    {
        try
        {
            meta = new Meta();
        }
        catch (final DurableWriteError ex)
        {
            // Its host has ended while it started: another one is started later.
            meta.hasEnded = true;
        }
    }

    private void step(final long mostNs)
    {
        realNs += 1 + random.nextLong(mostNs);
        while (!flights.isEmpty() && flights.peek().atNs <= realNs && null == problem)
        {
            flights.poll().arrival.run();
        }
        if (meta.hasEnded && (isQuiet || 0 == random.nextInt(20)))
        {
            startMeta();
        }
        if (!meta.isStill())
        {
            meta.act(true);
        }
        deposed.removeIf((each) -> each.hasEnded);
        deposed.forEach((each) -> each.act(false));
        final List<Runnable> turns = new ArrayList<>();
        memories.forEach((each) -> turns.add(each::act));
        computes.forEach((each) -> turns.add(each::act));
        Collections.shuffle(turns, random);
        turns.forEach(Runnable::run);
    }

    private void disturb()
    {
        switch (random.nextInt(160))
        {
            case 0 ->
            {
                // Another leader; the one before still calls memory nodes, until a write of it fails.
                deposed.add(meta);
                startMeta();
            }
            case 1 -> meta.hasEnded = true;
            case 2, 3 -> memories.get(random.nextInt(memories.size())).still(realNs + random.nextLong(4 * LEASE_NS));
            case 4, 5, 6 -> computes.get(random.nextInt(computes.size()))
                .still(realNs + random.nextLong(3 * LEASE_NS));
            case 7 -> memories.stream().filter((each) -> !each.isLost).skip(random.nextInt(memories.size())).findFirst()
                .ifPresent(ViewMemory::restart);
            case 8 -> computes.get(random.nextInt(computes.size())).restart();
            case 9 -> loseMemory();
            case 10 ->
            {
                if (restartsAll)
                {
                    restartAll();
                }
            }
            case 11 -> memories.get(random.nextInt(memories.size())).checkpoint();
            case 12, 13 -> enter(memories.get(random.nextInt(memories.size())).identity.nodeId());
            default ->
            {
                // A quiet moment.
            }
        }
    }

    /** A member's memory is gone, while another member of the view has its own. */
    private void loseMemory()
    {
        final List<ViewMemory> whole = whole();
        if (whole.size() > 1 && random.nextInt(3) == 0)
        {
            final ViewMemory lost = whole.get(random.nextInt(whole.size()));
            if (random.nextBoolean())
            {
                lost.lose();
            }
            else
            {
                lost.forget();
            }
        }
    }

    /** Survivors with all that was written under the identity in the record; where there are none, lost members. */
    private List<ViewMemory> whole()
    {
        final List<ViewMemory> survivors = whole(record.survivors());
        return survivors.isEmpty() ? whole(record.members()) : survivors;
    }

    private List<ViewMemory> whole(final List<PeerIdentity> members)
    {
        return members.stream().filter((member) -> memory(member.nodeId()).hasAllSince(member.incarnation()))
            .map((member) -> memory(member.nodeId())).toList();
    }

    /** All members, or all nodes, end and come back one after the other; some without their memory, not all. */
    private void restartAll()
    {
        for (final ViewMemory node : memories)
        {
            if (!node.isLost)
            {
                final List<ViewMemory> whole = whole();
                if (0 == random.nextInt(3) && (whole.size() > 1 || !whole.contains(node)))
                {
                    node.forget();
                }
                else
                {
                    node.restart();
                }
                node.still(realNs + random.nextLong(2 * LEASE_NS));
            }
        }
        if (random.nextBoolean())
        {
            meta.hasEnded = true;
        }
        if (0 == random.nextInt(3))
        {
            computes.forEach(ViewCompute::restart);
        }
    }
}
