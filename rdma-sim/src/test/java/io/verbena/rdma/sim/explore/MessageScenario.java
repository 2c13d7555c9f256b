package io.verbena.rdma.sim.explore;

import io.verbena.rdma.sim.SimPair;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Senders of two empty messages each to one receiver, by any transport. The order in which they came shows nowhere but
 * in the completions there.
 */
final class MessageScenario implements SimExplorer.Scenario
{
    private static final int MESSAGES = 2;
    private static final long ACCESS_KEY = 5;

    private final QueuePairType type;
    private final int senderCount;
    private final int receiveCount;
    private final Set<String> outcomes;
    private final List<Sender> senders = new ArrayList<>();
    private SimPair.Side receiver;

    MessageScenario(
        final QueuePairType type, final int senderCount, final int receiveCount, final Set<String> outcomes)
    {
        this.type = type;
        this.senderCount = senderCount;
        this.receiveCount = receiveCount;
        this.outcomes = outcomes;
    }

    @Override
    public void prepare(final SimExploration run)
    {
        receiver = new SimPair.Side(run.addDevice("receiver"));
        final SharedReceiveQueue shared =
            type == QueuePairType.UC ? null : receiver.domain.createSharedReceiveQueue(receiveCount);
        final QueuePair datagrams = type == QueuePairType.UD ? receiver.queuePair(type, shared) : null;
        if (datagrams != null)
        {
            SimPair.raise(datagrams, receiver, 0);
        }
        final DcTarget target = type != QueuePairType.DC_INITIATOR ? null : receiver.domain.createDcTarget(
            new DcTargetOptions(receiver.completions, shared, ACCESS_KEY, AccessFlags.ALL_REMOTE, 4));
        for (int i = 0; shared != null && i < receiveCount; i++)
        {
            shared.postReceive(i, receiver.at(64L * i), 64, receiver.key());
        }
        for (int i = 0; i < senderCount; i++)
        {
            final SimPair.Side side = new SimPair.Side(run.addDevice("sender-" + i));
            final Sender sender = new Sender(i, side, connect(side, shared, datagrams, target));
            senders.add(sender);
            run.addActor(side.device, sender, true);
        }
    }

    private Sending connect(
        final SimPair.Side side, final SharedReceiveQueue shared, final QueuePair datagrams, final DcTarget target)
    {
        if (type == QueuePairType.RC || type == QueuePairType.UC)
        {
            final QueuePair[] pair = SimPair.connected(type, side, receiver, shared);
            for (int i = 0; shared == null && i < receiveCount; i++)
            {
                pair[1].postReceive(i, receiver.at(0), 64, receiver.key());
            }
            return immediate -> send(pair[0], side, immediate);
        }
        final QueuePair queuePair = side.queuePair(type, null);
        SimPair.raise(queuePair, receiver, 0);
        final AddressHandle handle = side.domain.createAddressHandle(receiver.device.address());
        return immediate ->
        {
            queuePair.begin();
            stage(queuePair, side, immediate);
            if (target == null)
            {
                queuePair.toQueuePair(handle, datagrams.number(), SimPair.QKEY);
            }
            else
            {
                queuePair.toDcTarget(handle, target.number(), ACCESS_KEY);
            }
            queuePair.complete();
        };
    }

    private static void send(final QueuePair queuePair, final SimPair.Side side, final int immediate)
    {
        queuePair.begin();
        stage(queuePair, side, immediate);
        queuePair.complete();
    }

    private static void stage(final QueuePair queuePair, final SimPair.Side side, final int immediate)
    {
        queuePair.sendWithImmediate(immediate, SendFlags.SIGNALED, side.at(0), 0, side.key(), immediate);
    }

    @Override
    public String verdict(final SimExploration run)
    {
        final List<String> came = receiver.poll().stream()
            .map(done -> (char)('a' + done.extra() / MESSAGES) + "" + done.extra() % MESSAGES).toList();
        outcomes.add(String.join(" ", came));
        return null;
    }

    /** Posts one message. */
    private interface Sending
    {
        void send(int immediate);
    }

    /** Posts its messages at once and waits for their completions. */
    private static final class Sender implements SimActor
    {
        private final int index;
        private final SimPair.Side side;
        private final Sending sending;
        private boolean isPosted;
        private int completed;

        private Sender(final int index, final SimPair.Side side, final Sending sending)
        {
            this.index = index;
            this.side = side;
            this.sending = sending;
        }

        @Override
        public boolean isDone()
        {
            return completed == MESSAGES;
        }

        @Override
        public int doWork()
        {
            if (!isPosted)
            {
                isPosted = true;
                for (int i = 0; i < MESSAGES; i++)
                {
                    sending.send(index * MESSAGES + i);
                }
                return MESSAGES;
            }
            final int count = side.poll().size();
            completed += count;
            return count;
        }

        @Override
        public String roleName()
        {
            return "sender-" + index;
        }
    }
}
