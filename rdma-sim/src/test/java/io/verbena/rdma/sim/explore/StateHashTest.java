package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.SimPair;
import io.verbena.rdma.sim.schedule.ExploredDecisions;
import io.verbena.rdma.sim.schedule.StatePart;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** For each part of a state two states that differ in nothing else: without the part they would be taken for one. */
class StateHashTest
{
    private static final long ACCESS_KEY = 7;

    private final List<Scene> scenes = new ArrayList<>();

    /** Two devices; a number says in which of its two ways the part under test comes out. */
    private static final class Scene
    {
        private final SimExploration run = new SimExploration(
            new ExploredDecisions(bound -> 0), new SimExplorerOptions().late(true));
        private final SimPair.Side a = new SimPair.Side(run.addDevice("a"));
        private final SimPair.Side b = new SimPair.Side(run.addDevice("b"));
        private final int way;

        private Scene(final StatePart part, final int way)
        {
            this.way = way;
            switch (part)
            {
                case NODES -> nodes();
                case HISTORY -> history();
                case MEMORY -> b.word(0, way);
                case KEYS -> keys();
                case WINDOWS -> window();
                case QUEUE_PAIRS -> a.queuePair(QueuePairType.RC, null).modify(SimPair.init(QueuePairType.RC, way));
                case SENDS -> fencedWrite();
                case REQUESTS -> write(connected(), 0);
                case RECEIVES -> connected()[1].postReceive(way, b.at(0), 8, b.key());
                case SHARED_RECEIVES -> b.domain.createSharedReceiveQueue(4).postReceive(way, b.at(0), 8, b.key());
                case COMPLETIONS -> immediate();
                case NOTIFICATIONS -> b.device.createCompletionQueue(4, b.device.createCompletionChannel())
                    .requestNotification(way > 0);
                case EVENTS -> b.domain.createSharedReceiveQueue(4).armLimit(way);
                case DC_CONNECTIONS -> initiator();
                case CONNECTIONS -> connectionRequest();
                case MESSAGES -> datagram();
                default -> throw new AssertionError(part);
            }
        }

        private QueuePair[] connected()
        {
            return SimPair.connected(QueuePairType.RC, a, b, null);
        }

        /** Whatever can happen does. */
        private void drain()
        {
            run.start();
            while (run.choices() > 1)
            {
                // The first choice is that nothing more lands: nobody here waits for anything.
                run.take(1);
            }
        }

        private void nodes()
        {
            if (way > 0)
            {
                b.device.kill();
            }
        }

        /** Which key the next region gets depends on it. */
        private void keys()
        {
            if (way > 0)
            {
                b.domain.allocateRegistered(64, AccessFlags.ALL_REMOTE).close();
            }
        }

        /** The word is the same in the end, what was found in it is not. */
        private void history()
        {
            run.addActor(a.device, new Idler(), false);
            final QueuePair queuePair = connected()[0];
            b.word(0, way);
            SimPair.post(queuePair, () -> queuePair.fetchAdd(
                1, SendFlags.SIGNALED, a.at(0), a.key(), b.at(0), b.key(), 1));
            drain();
            b.word(0, 9);
        }

        private void window()
        {
            final MemoryWindow window = b.domain.allocateMemoryWindow();
            final QueuePair queuePair = connected()[1];
            SimPair.post(queuePair, () -> queuePair.bindMemoryWindow(
                1, SendFlags.SIGNALED, window, window.nextRemoteKey(), b.region, b.at(0), 8 + way,
                AccessFlags.REMOTE_READ));
            drain();
            assertThat(b.statuses()).containsExactly("1 success");
        }

        private void fencedWrite()
        {
            final QueuePair queuePair = connected()[0];
            SimPair.post(queuePair,
                () -> queuePair.read(1, 0, a.at(0), 8, a.key(), b.at(0), b.key()),
                () -> queuePair.write(2, SendFlags.FENCE, a.at(0), 8, a.key(), b.at(64L * way), b.key()));
            run.start();
        }

        private void write(final QueuePair[] pair, final int flags)
        {
            SimPair.post(pair[0], () -> pair[0].write(1, flags, a.at(0), 8, a.key(), b.at(64L * way), b.key()));
            run.start();
        }

        private void immediate()
        {
            final QueuePair[] pair = connected();
            pair[1].postReceive(1, b.at(0), 8, b.key());
            SimPair.post(pair[0], () -> pair[0].sendWithImmediate(2, 0, a.at(0), 0, a.key(), way));
            drain();
        }

        private void initiator()
        {
            final SharedReceiveQueue shared = b.domain.createSharedReceiveQueue(4);
            final DcTarget[] targets = new DcTarget[2];
            for (int i = 0; i < targets.length; i++)
            {
                targets[i] = b.domain.createDcTarget(
                    new DcTargetOptions(b.completions, shared, ACCESS_KEY, AccessFlags.ALL_REMOTE, 4));
            }
            final QueuePair queuePair = a.queuePair(QueuePairType.DC_INITIATOR, null);
            SimPair.raise(queuePair, b, 0);
            SimPair.post(queuePair, () ->
            {
                queuePair.write(1, SendFlags.SIGNALED, a.at(0), 8, a.key(), b.at(0), b.key());
                queuePair.toDcTarget(
                    a.domain.createAddressHandle(b.device.address()), targets[way].number(), ACCESS_KEY);
            });
            run.start();
            for (int i = 0; i < 10 && !run.describe(run.choices() - 1).contains("idle"); i++)
            {
                run.take(1);
            }
            assertThat(a.statuses()).containsExactly("1 success");
        }

        private void connectionRequest()
        {
            b.device.listen(1);
            a.device.connect(a.queuePair(QueuePairType.RC, null), b.device.address(), 1, AccessFlags.ALL_REMOTE,
                new byte[]{(byte)way}, Long.MAX_VALUE / 2);
            run.start();
        }

        private void datagram()
        {
            final QueuePair from = a.queuePair(QueuePairType.UD, null);
            final QueuePair to = b.queuePair(QueuePairType.UD, null);
            SimPair.raise(from, b, 0);
            SimPair.raise(to, a, 0);
            SimPair.post(from, () ->
            {
                from.sendWithImmediate(1, 0, a.at(0), 0, a.key(), way);
                from.toQueuePair(a.domain.createAddressHandle(b.device.address()), to.number(), SimPair.QKEY);
            });
            run.start();
        }
    }

    /** Does nothing. */
    private static final class Idler implements SimActor
    {
        @Override
        public boolean isDone()
        {
            return true;
        }

        @Override
        public int doWork()
        {
            return 0;
        }

        @Override
        public String roleName()
        {
            return "idler";
        }
    }

    private long hash(final StatePart part, final int way, final Set<StatePart> counted)
    {
        return scene(part, way).run.stateHash(counted, null);
    }

    private Scene scene(final StatePart part, final int way)
    {
        final Scene scene = new Scene(part, way);
        scenes.add(scene);
        return scene;
    }

    /** Words from 100 on are named in the order in which they are met. */
    private long namedHash(final long word, final long next)
    {
        final Map<Long, Long> names = new HashMap<>();
        final Scene scene = scene(StatePart.MEMORY, 0);
        scene.b.word(0, word);
        scene.b.word(Long.BYTES, next);
        return scene.run.stateHash(StateHash.EVERYTHING,
            value -> value < 100 || value > 103 ? value : names.computeIfAbsent(value, unnamed -> 100L + names.size()));
    }

    @Test
    void shouldTakeStatesForOneThatDifferInNamesOnly()
    {
        assertThat(namedHash(101, 102)).isEqualTo(namedHash(103, 101)).isNotEqualTo(namedHash(102, 102))
            .isNotEqualTo(namedHash(101, 99)).isNotEqualTo(namedHash(99, 101));
        assertThat(namedHash(101, 101)).isEqualTo(namedHash(103, 103)).isNotEqualTo(namedHash(99, 99));
        assertThat(namedHash(98, 99)).as("words without a name").isNotEqualTo(namedHash(99, 98));
    }

    @AfterEach
    void close()
    {
        scenes.forEach(scene -> scene.run.close());
    }

    @ParameterizedTest
    @EnumSource(StatePart.class)
    void shouldTellStatesApartThatDifferInOnePart(final StatePart part)
    {
        assertThat(hash(part, 0, StateHash.EVERYTHING)).isEqualTo(hash(part, 0, StateHash.EVERYTHING))
            .isNotEqualTo(hash(part, 1, StateHash.EVERYTHING));
        final Set<StatePart> others = EnumSet.complementOf(EnumSet.of(part));
        assertThat(hash(part, 0, others)).isEqualTo(hash(part, 1, others));
    }
}
