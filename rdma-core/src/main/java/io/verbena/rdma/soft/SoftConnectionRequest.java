package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.ConnectWord;
import io.verbena.rdma.soft.shared.QueuePairEntry;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

/** The accepting side of a connection being made. */
final class SoftConnectionRequest implements ConnectionRequest
{
    private final SoftHost device;
    private final DeviceAddress source;
    private final SoftPeer peer;
    private final int peerNumber;
    private final long attempt;
    private final byte[] privateData;
    private boolean isAnswered;

    /**
     * @param device      that listens.
     * @param peer        the connecting device, used for this request.
     * @param peerNumber  the connecting queue pair.
     * @param attempt     number of the attempt there.
     * @param privateData what came along.
     */
    SoftConnectionRequest(
        final SoftHost device,
        final SoftPeer peer,
        final int peerNumber,
        final long attempt,
        final byte[] privateData)
    {
        this.device = device;
        this.peer = peer;
        this.source = peer.address();
        this.peerNumber = peerNumber;
        this.attempt = attempt;
        this.privateData = privateData;
    }

    /** Whether the connecting side still waits. */
    boolean isWanted()
    {
        return peer.file().isOpen() && ConnectWord.outcome(peerEntry(), attempt) == ConnectWord.PENDING;
    }

    @Override
    public byte[] privateData()
    {
        return privateData;
    }

    @Override
    public DeviceAddress source()
    {
        return source;
    }

    @Override
    public int queuePairNumber()
    {
        return peerNumber;
    }

    @Override
    public void prepare(final QueuePair queuePair)
    {
        SoftQueuePair.of(device, queuePair).toInit();
    }

    @Override
    public void accept(final QueuePair queuePair, final int accessFlags, final byte[] answer)
    {
        checkAnswer(answer);
        final SoftQueuePair accepting = SoftQueuePair.of(device, queuePair);
        if (accepting.state() != QueuePairState.INIT)
        {
            accepting.toInit();
        }
        isAnswered = true;
        final long entry = peerEntry();
        if (!isWanted() || !ConnectWord.change(entry, attempt, ConnectWord.PENDING, ConnectWord.DECIDING))
        {
            peer.unuse();
            accepting.moveToError();
            return;
        }
        accepting.accept(peer, peerNumber, accessFlags);
        putAnswer(entry, answer);
        QueuePairEntry.open(entry, peerNumber, device.address().gidLow(), accepting.number());
        ConnectWord.change(entry, attempt, ConnectWord.DECIDING, ConnectWord.ESTABLISHED);
    }

    @Override
    public void reject(final byte[] answer)
    {
        checkAnswer(answer);
        isAnswered = true;
        final long entry = peerEntry();
        if (isWanted() && ConnectWord.change(entry, attempt, ConnectWord.PENDING, ConnectWord.DECIDING))
        {
            putAnswer(entry, answer);
            ConnectWord.change(entry, attempt, ConnectWord.DECIDING, ConnectWord.REJECTED);
        }
        peer.unuse();
    }

    /** Not handed out, because nobody waits for it any more. */
    void drop()
    {
        isAnswered = true;
        peer.unuse();
    }

    private static void putAnswer(final long entry, final byte[] answer)
    {
        SharedWords.putInt(entry + QueuePairEntry.DATA_LENGTH_OFFSET, answer.length);
        SharedWords.putBytes(entry + QueuePairEntry.DATA_OFFSET, answer);
    }

    private long peerEntry()
    {
        return peer.file().queuePairEntry(peerNumber);
    }

    private void checkAnswer(final byte[] answer)
    {
        if (isAnswered)
        {
            throw new RdmaException("connection request was answered already: source=" + source());
        }
        SoftHost.checkRange("privateData.length", answer.length, 0, MAX_PRIVATE_DATA_BYTES);
    }
}
