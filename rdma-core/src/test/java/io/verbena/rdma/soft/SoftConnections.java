package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.WorkCompletions;

import static org.assertj.core.api.Assertions.assertThat;

/** Connects endpoints of one soft fabric from one thread. */
final class SoftConnections
{
    static final int QKEY = 0x2222;
    private static final QueuePairCapabilities DEPTHS = new QueuePairCapabilities(16, 16, 64, 4);
    private static final byte[] NOTHING = {};

    private SoftConnections()
    {
    }

    static void connect(final Endpoint from, final Endpoint to)
    {
        connect(from, from.queuePair, to, to.queuePair);
    }

    static void connect(final Endpoint from, final QueuePair source, final Endpoint to, final QueuePair target)
    {
        try (ConnectionListener listener = to.device.listen(1))
        {
            from.device.connect(source, to.device.address(), 1, NOTHING, 1_000_000_000L);
            listener.poll().accept(target, AccessFlags.ALL_REMOTE, NOTHING);
        }
    }

    /** A queue pair that sends and takes datagrams of {@link #QKEY}. */
    static QueuePair datagrams(final ProtectionDomain domain, final CompletionQueue completions)
    {
        final QueuePair queuePair = domain.createQueuePair(new QueuePairOptions()
            .type(QueuePairType.UD).completions(completions, completions).capabilities(DEPTHS));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).qkey(QKEY));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0));
        return queuePair;
    }

    /**
     * Makes a DC initiator ready to send.
     *
     * @param timeout    code; 0 waits for ever.
     * @param retryCount 0 to 7.
     */
    static void readyInitiator(final QueuePair initiator, final int timeout, final int retryCount)
    {
        initiator.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1));
        initiator.modify(new QueuePairAttributes().state(QueuePairState.RTR).pathMtuBytes(SoftHost.PATH_MTU_BYTES));
        initiator.modify(new QueuePairAttributes()
            .state(QueuePairState.RTS).sqPsn(0).timeout(timeout).retryCount(retryCount).rnrRetry(7).maxReadAtomic(4));
    }

    static void awaitSuccess(final Endpoint endpoint, final WorkCompletions completions)
    {
        assertThat(awaitStatus(endpoint, completions)).isZero();
    }

    static int awaitStatus(final Endpoint endpoint, final WorkCompletions completions)
    {
        while (endpoint.completions.poll(completions) == 0)
        {
            // The timeout of a test interrupts it.
            assertThat(Thread.currentThread().isInterrupted()).as("interrupted while waiting").isFalse();
            Thread.yield();
        }
        return completions.status(0);
    }
}
