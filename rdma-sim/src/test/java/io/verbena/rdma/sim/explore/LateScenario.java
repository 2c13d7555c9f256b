package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.SimPair;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What only shows when a response, or a look, comes later than it could. */
final class LateScenario implements SimExplorer.Scenario
{
    /** Who does what. */
    enum Kind
    {
        /** One actor adds and reads over two queue pairs; the outcome says what it learnt, in order. */
        TWO_QUEUE_PAIRS,
        /** Two clients send to a server, which tells how many messages it found at a look. */
        SERVER,
        /** A client sends to a server that posts its receive only when it has waited for a while. */
        SLOW_SERVER
    }

    private final Kind kind;
    private final Set<String> outcomes;
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final StringBuilder seen = new StringBuilder();
    private SimPair.Side server;

    LateScenario(final Kind kind, final Set<String> outcomes)
    {
        this.kind = kind;
        this.outcomes = outcomes;
    }

    @Override
    public void prepare(final SimExploration run)
    {
        server = new SimPair.Side(run.addDevice("server"));
        if (kind == Kind.TWO_QUEUE_PAIRS)
        {
            final SimPair.Side side = new SimPair.Side(run.addDevice("client"));
            queuePairs.add(SimPair.connected(QueuePairType.RC, side, server, null)[0]);
            queuePairs.add(SimPair.connected(QueuePairType.RC, side, server, null)[0]);
            run.addActor(side.device, new AddAndRead(side), false);
            return;
        }
        for (int i = 0; i < (kind == Kind.SERVER ? 2 : 1); i++)
        {
            final SimPair.Side side = new SimPair.Side(run.addDevice("client-" + i));
            final QueuePair[] pair = SimPair.connected(QueuePairType.RC, side, server, null);
            queuePairs.add(pair[1]);
            run.addActor(side.device, new Client(side, pair[0]), false);
        }
        run.addActor(server.device, new Server(), false);
    }

    @Override
    public String verdict(final SimExploration run)
    {
        outcomes.add(seen.toString().trim());
        return null;
    }

    /** A part of the scenario that takes one step at the beginning and then polls. */
    private abstract class Poller implements SimActor
    {
        private final SimPair.Side side;
        private final int expected;
        private boolean isStarted;
        private int completed;

        private Poller(final SimPair.Side side, final int expected)
        {
            this.side = side;
            this.expected = expected;
        }

        abstract void start();

        void polled(final List<SimPair.Done> done)
        {
        }

        /** Waiting once more changes nothing: else a server would wait in ever new states. */
        @Override
        public long stateHash()
        {
            return 1 + ownState() * 16L + completed * 2L + (isStarted ? 1 : 0);
        }

        /** What else it remembers. */
        int ownState()
        {
            return seen.toString().hashCode();
        }

        @Override
        public boolean isDone()
        {
            return completed == expected;
        }

        @Override
        public int doWork()
        {
            if (!isStarted)
            {
                isStarted = true;
                start();
                return 1;
            }
            final List<SimPair.Done> done = side.poll();
            completed += done.size();
            polled(done);
            return done.size();
        }

        @Override
        public String roleName()
        {
            return side.device.name();
        }
    }

    private final class AddAndRead extends Poller
    {
        private final SimPair.Side side;

        private AddAndRead(final SimPair.Side side)
        {
            super(side, 2);
            this.side = side;
        }

        @Override
        void start()
        {
            SimPair.post(queuePairs.get(0), () -> queuePairs.get(0).fetchAdd(
                0, SendFlags.SIGNALED, side.at(0), side.key(), server.at(0), server.key(), 1));
            SimPair.post(queuePairs.get(1), () -> queuePairs.get(1).read(
                1, SendFlags.SIGNALED, side.at(8), 8, side.key(), server.at(0), server.key()));
        }

        @Override
        void polled(final List<SimPair.Done> done)
        {
            done.forEach(one -> seen.append(one.wrId() == 0 ? " added" : " read " + side.word(8)));
        }
    }

    private final class Client extends Poller
    {
        private final SimPair.Side side;
        private final QueuePair queuePair;

        private Client(final SimPair.Side side, final QueuePair queuePair)
        {
            super(side, 1);
            this.side = side;
            this.queuePair = queuePair;
        }

        @Override
        void start()
        {
            SimPair.post(queuePair, () -> queuePair.send(0, SendFlags.SIGNALED, side.at(0), 8, side.key()));
        }
    }

    private final class Server extends Poller
    {
        private boolean hasReceives;

        private Server()
        {
            super(server, queuePairs.size());
        }

        @Override
        void start()
        {
            if (kind == Kind.SERVER)
            {
                postReceives();
            }
        }

        @Override
        int ownState()
        {
            return super.ownState() * 2 + (hasReceives ? 1 : 0);
        }

        private void postReceives()
        {
            hasReceives = true;
            queuePairs.forEach(queuePair -> queuePair.postReceive(0, server.at(0), 8, server.key()));
        }

        @Override
        void polled(final List<SimPair.Done> done)
        {
            if (!hasReceives && server.device.clock().nanoTime() > 1)
            {
                postReceives();
            }
            if (!done.isEmpty())
            {
                seen.append(' ').append(done.size());
            }
        }
    }
}
