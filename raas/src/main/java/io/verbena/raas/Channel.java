package io.verbena.raas;

import io.verbena.raas.completion.CompletionDispatcher;
import io.verbena.raas.completion.CompletionOwner;
import io.verbena.raas.encryption.ConnectionCipher;
import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.Receives;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;

/**
 * A physical queue pair with its receive buffers: what the two kinds, made here and accepted here, have in common. It
 * has none before {@link #open}.
 */
abstract class Channel implements CompletionOwner
{
    /** Keeps the channels that are open. */
    interface Owner
    {
        void onOpened(Channel channel);

        /** The queue pair is destroyed. */
        void onClosed(Channel channel);
    }

    /** In the place of an immediate: a probe instead of a message. */
    static final int PROBE = 0;
    /** Of clients, and of nodes that have not registered yet. */
    static final int NO_NODE = -1;

    protected final ContextResources resources;
    private final Owner owner;
    protected QueuePair queuePair;
    protected Receives receives;
    /** Of an encrypted connection whose packets are not sealed; else null. */
    private ConnectionCipher cipher;
    private boolean isEncrypted;
    /** A message that the peer waits for, or has to count, was not posted. */
    private boolean isOutOfStep;
    private int queuePairNumber;
    private final int sendDepth;
    private boolean isClosed;
    /** Nothing arrives any more; the queue pair may have to be closed once more. */
    private boolean isStopped;

    /** The caller has taken room in the completion queues; it is given back by {@link #close()}. */
    Channel(final ContextResources resources, final Owner owner, final int sendDepth)
    {
        this.resources = resources;
        this.owner = owner;
        this.sendDepth = sendDepth;
    }

    /**
     * Makes the queue pair. When that fails nothing is left, neither receives nor room.
     *
     * @param newReceives given back by {@link #close()}.
     */
    final void open(final Receives newReceives)
    {
        try
        {
            queuePair = createQueuePair(resources, sendDepth, newReceives);
        }
        catch (final RdmaException ex)
        {
            isClosed = true;
            throw ex;
        }
        receives = newReceives;
        queuePairNumber = queuePair.number();
        resources.completions().add(this);
        owner.onOpened(this);
    }

    /** Whether there is a queue pair, or was one. */
    final boolean isOpened()
    {
        return queuePair != null;
    }

    /** See {@link QueuePair#transport()}. */
    final String transport()
    {
        return queuePair.transport();
    }

    /** Number of the node at the other end, 0 for one that has none; {@link #NO_NODE} for what is no node. */
    abstract int nodeId();

    private static QueuePair createQueuePair(
        final ContextResources resources, final int sendDepth, final Receives receives)
    {
        final CompletionDispatcher completions = resources.completions();
        try
        {
            final QueuePairOptions options = new QueuePairOptions()
                .completions(completions.sendQueue(), completions.receiveQueue())
                .capabilities(new QueuePairCapabilities(
                    sendDepth, resources.receives().completionsOfEach(), 0, resources.readAtomicDepth()));
            receives.addTo(options);
            return resources.verbsProtectionDomain().createQueuePair(options);
        }
        catch (final RdmaException ex)
        {
            completions.release(sendDepth, resources.receives().completionsOfEach());
            receives.close();
            throw ex;
        }
    }

    /** See {@link QueuePair#preload}. */
    final void preload(final long remoteAddress, final int lengthBytes, final int remoteKey)
    {
        if (!isClosed && isOpened())
        {
            queuePair.preload(remoteAddress, lengthBytes, remoteKey);
        }
    }

    final VerbCounters counters()
    {
        return queuePair.counters();
    }

    @Override
    public final int queuePairNumber()
    {
        return queuePairNumber;
    }

    final boolean isClosed()
    {
        return isClosed;
    }

    /** Posts receive buffers; before the peer can send. */
    final void openReceives()
    {
        receives.open(queuePair);
    }

    /** By its messages, or by its packets. */
    final boolean isEncrypted()
    {
        return isEncrypted;
    }

    /** Each message is opened as the next one. */
    final boolean isCounted()
    {
        return cipher != null;
    }

    /** Has messages encrypted from now on; not where there is no secret, or packets do it. */
    final void encrypt(
        final IdentitySecret secret, final boolean isConnector, final byte[] request, final byte[] answer)
    {
        isEncrypted = secret != null;
        cipher = secret == null ||
            ConnectDataDescriptor.encryptionGranted(answer) == SealedMessageDescriptor.IN_SEALED_PACKETS ? null :
            ConnectionCipher.of(secret, isConnector, request, answer, resources.cipherScratch());
    }

    /** Seals a message just before it is posted, where the connection is encrypted; returns its length. */
    final int sealed(final MessageBlock block, final int slot, final int lengthBytes, final int immediate)
    {
        return cipher == null ? lengthBytes : cipher.seal(block.buffer(), block.offset(slot), lengthBytes, immediate);
    }

    /**
     * A message was not posted that cannot be posted again: a sealed one, since the peer opens none of those behind
     * it, or a reply, which returns a credit. The connection is ended at the next check of states.
     */
    final void endOutOfStep()
    {
        isOutOfStep = true;
    }

    final boolean isOutOfStep()
    {
        return isOutOfStep;
    }

    /**
     * A message that does not open ends an encrypted connection: those behind it would be opened under wrong counts.
     * Messages in clear, and of kinds that calls do not have, do not open either.
     */
    @Override
    public final void onReceive(final int slot, final int lengthBytes, final int immediate)
    {
        if (!receives.take(slot))
        {
            breakProtocol(excess() + receives.credits());
            return;
        }
        final int length = cipher == null ? lengthBytes :
            cipher.open(receives.buffer(slot), receives.offset(slot), lengthBytes, immediate);
        if (length < 0)
        {
            onRefusedMessage();
            breakProtocol("a message of " + lengthBytes + " bytes is not the next one that the peer has sealed");
            return;
        }
        onArrived(slot, length, immediate);
    }

    /** What the peer has done that sent more messages than it has credits, up to their number. */
    abstract String excess();

    /** A message is in a slot, and in clear. */
    abstract void onArrived(int slot, int lengthBytes, int immediate);

    /** A message of an encrypted connection did not open. */
    void onRefusedMessage()
    {
        // Whoever made the connection hears of its end.
    }

    /** A message is for nobody here: others on the queue pair are not to suffer from it. */
    final void drop(final int slot)
    {
        resources.onDroppedMessage();
        receives.post(slot);
    }

    /** A message that is neither a request nor a reply: for an endpoint, or for nobody here. */
    final void onMessage(final int slot, final int lengthBytes, final int immediate)
    {
        if (!resources.messages().dispatch(this, slot, lengthBytes, immediate))
        {
            drop(slot);
        }
    }

    final Receives receives()
    {
        return receives;
    }

    /** Posts a READ of length 0 unless something is under way: if the peer is gone, either fails. */
    final void probeUnlessBusy()
    {
        if (!hasOutstandingSends())
        {
            sendControl(PROBE);
        }
    }

    /** Posts an empty message; false when there is no room now. */
    abstract boolean sendControl(int immediate);

    /** Whether it broke and no completion will say so: receives that are shared are not flushed. */
    final boolean isBrokenUnseen()
    {
        return isOutOfStep || receives.isShared() && !hasOutstandingSends() && queuePair.state() == QueuePairState.ERR;
    }

    /** The queue pair is destroyed: drops what was kept for it. */
    abstract void onClosed();

    /** Tells everybody concerned that the channel is gone; it is closed already. */
    abstract void onBreakdown(int status, String reason);

    @Override
    public final void breakDown(final int status, final String reason)
    {
        if (!isClosed)
        {
            try
            {
                close();
            }
            catch (final RdmaException ex)
            {
                // It is still there, and broken: looked at again later. Others' completions are not lost meanwhile.
                resources.deferError(ex);
                return;
            }
            onBreakdown(status, reason);
        }
    }

    final void breakProtocol(final String reason)
    {
        breakDown(WorkCompletionStatus.GENERAL_ERR, reason);
    }

    /**
     * Destroys the queue pair: no access through it lands any more, at either end's memory. Tells nobody. Where the
     * device cannot destroy it yet, because a requester does not leave the memory, that is thrown and nothing is over:
     * who needs it gone, as a fence does, has to call this again.
     */
    final void close()
    {
        if (!isOpened())
        {
            closeUnopened();
        }
        else if (!isClosed)
        {
            if (receives.isShared() && !isStopped)
            {
                takeArrived();
                isStopped = true;
            }
            // When it throws the channel is still there: whoever fences must not believe it closed.
            queuePair.close();
            isClosed = true;
            resources.completions().remove(this);
            owner.onClosed(this);
            resources.completions().release(sendDepth, resources.receives().completionsOfEach());
            receives.close();
            resources.messages().onQueuePairClosed(this);
            onClosed();
        }
    }

    private void closeUnopened()
    {
        if (!isClosed)
        {
            isClosed = true;
            resources.completions().release(sendDepth, resources.receives().completionsOfEach());
            onClosed();
        }
    }

    /**
     * Nothing arrives from here on; what has arrived is taken from the completion queue, from where it would be dropped
     * with the queue pair, and its buffers come back when the context is polled.
     */
    private void takeArrived()
    {
        if (queuePair.state() != QueuePairState.RESET)
        {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
            resources.completions().takeReceives();
        }
    }
}
