package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

/** The accepting side of a connection being made. */
final class SoftConnectionRequest implements ConnectionRequest
{
    private final SoftDevice device;
    private final SoftConnectionAttempt attempt;
    private final byte[] privateData;
    private boolean isAnswered;

    SoftConnectionRequest(final SoftDevice device, final SoftConnectionAttempt attempt, final byte[] privateData)
    {
        this.device = device;
        this.attempt = attempt;
        this.privateData = privateData;
    }

    /** Whether the connecting side still waits. */
    boolean isWanted()
    {
        return attempt.isPending();
    }

    @Override
    public byte[] privateData()
    {
        return privateData;
    }

    @Override
    public DeviceAddress source()
    {
        return attempt.queuePair().device().address();
    }

    @Override
    public void prepare(final QueuePair queuePair)
    {
        device.own(queuePair).toInit();
    }

    @Override
    public void accept(final QueuePair queuePair, final int accessFlags, final byte[] answer)
    {
        checkAnswer(answer);
        final SoftQueuePair accepting = device.own(queuePair);
        if (accepting.state() != QueuePairState.INIT)
        {
            accepting.toInit();
        }
        isAnswered = true;
        attempt.accept(accepting, accessFlags, answer.clone());
    }

    @Override
    public void reject(final byte[] answer)
    {
        checkAnswer(answer);
        isAnswered = true;
        attempt.reject(answer.clone());
    }

    private void checkAnswer(final byte[] answer)
    {
        if (isAnswered)
        {
            throw new RdmaException("connection request was answered already: source=" + source());
        }
        SoftDevice.checkRange("privateData.length", answer.length, 0, MAX_PRIVATE_DATA_BYTES);
    }
}
