package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.SplitMix;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

import java.util.Arrays;

/** The accepting side of a connection being made; answers travel like any message. */
final class SimConnectionRequest implements ConnectionRequest
{
    private final SimHost host;
    private final SimConnectionAttempt attempt;
    private final byte[] privateData;
    private boolean isAnswered;

    SimConnectionRequest(final SimHost host, final SimConnectionAttempt attempt, final byte[] privateData)
    {
        this.host = host;
        this.attempt = attempt;
        this.privateData = privateData;
    }

    /** Of who asks, and with what. */
    long stateHash()
    {
        final SimQueuePair asking = attempt.queuePair();
        final long asker = (long)asking.host().index() << 32 | asking.number();
        return asker ^ SplitMix.mix(Arrays.hashCode(privateData));
    }

    @Override
    public byte[] privateData()
    {
        return privateData;
    }

    @Override
    public DeviceAddress source()
    {
        return attempt.queuePair().host().address();
    }

    @Override
    public int queuePairNumber()
    {
        return attempt.queuePair().number();
    }

    @Override
    public void prepare(final QueuePair queuePair)
    {
        SimQueuePair.of(host, queuePair).toInit();
    }

    @Override
    public void accept(final QueuePair queuePair, final int accessFlags, final byte[] answer)
    {
        checkAnswer(answer);
        final SimQueuePair accepting = SimQueuePair.of(host, queuePair);
        if (accepting.state() != QueuePairState.INIT)
        {
            accepting.toInit();
        }
        isAnswered = true;
        accepting.establish(attempt.queuePair(), accessFlags);
        attempt.answer(host, accepting, answer.clone());
    }

    @Override
    public void reject(final byte[] answer)
    {
        checkAnswer(answer);
        isAnswered = true;
        attempt.answer(host, null, answer.clone());
    }

    private void checkAnswer(final byte[] answer)
    {
        if (isAnswered)
        {
            throw new RdmaException("connection request was answered already: source=" + source());
        }
        SimHost.checkRange("privateData.length", answer.length, 0, MAX_PRIVATE_DATA_BYTES);
    }
}
