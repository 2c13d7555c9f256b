package io.verbena.raas;

import io.verbena.raas.batch.BatchPool;
import io.verbena.raas.batch.Doorbells;
import io.verbena.raas.completion.CompletionDispatcher;
import io.verbena.raas.completion.ReplayCounters;
import io.verbena.raas.encryption.ConnectionCipher;
import io.verbena.raas.message.MessageBlock;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageTable;
import io.verbena.raas.message.OwnReceives;
import io.verbena.raas.message.ReceiveSupply;
import io.verbena.raas.message.SharedReceives;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.ProtectionDomain;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;

import java.util.ArrayDeque;
import java.util.ArrayDeque;

/**
 * What the parts of one {@link RaasContext} share and none of them owns: the device with the protection domain,
 * completion queues and receive buffers on it, the limits, and the errors to be reported at the end of a poll.
 */
final class ContextResources implements AutoCloseable
{
    /** What is closed together, last made first. */
    static final class Closables implements AutoCloseable
    {
        private final ArrayDeque<AutoCloseable> open = new ArrayDeque<>();

        <T extends AutoCloseable> T add(final T closable)
        {
            open.push(closable);
            return closable;
        }

        @Override
        public void close()
        {
            while (!open.isEmpty())
            {
                try
                {
                    open.pop().close();
                }
                catch (final RuntimeException ex)
                {
                    throw ex;
                }
                catch (final Exception ex)
                {
                    throw new IllegalStateException(ex);
                }
            }
        }
    }

    /** So that no number is that of a probe, -1. */
    private static final int MAX_ENDPOINTS = 65_534;

    private final Device device;
    private final NanoClock clock;
    private final RaasConfiguration configuration;
    private final Tenants tenants;
    private final int readAtomicDepth;
    private final Closables open = new Closables();
    private final ProtectionDomain verbsProtectionDomain;
    private final CompletionDispatcher completions;
    private final ReceiveSupply receives;
    private final BatchPool batches;
    private final Doorbells doorbells = new Doorbells();
    private final ArrayDeque<RuntimeException> deferredErrors = new ArrayDeque<>();
    private final ReplayCounters replays = new ReplayCounters();
    private final MessageTable messages;
    private byte[] cipherScratch;
    private long droppedMessages;
    private long replayTimeoutNs;
    private long polledAtNs = Long.MIN_VALUE;

    /**
     * @param device        the caller closes it after this.
     * @param configuration checked; changed by nobody any more.
     */
    ContextResources(final Device device, final RaasConfiguration configuration)
    {
        this.device = device;
        this.configuration = configuration;
        clock = device.clock();
        replayTimeoutNs = configuration.replayTimeoutNs();
        messages = new MessageTable(MAX_ENDPOINTS, configuration.probeIntervalNs(), clock.nanoTime());
        batches = new BatchPool(configuration.maxOpenBatches(), configuration.maxBatchRequests());
        readAtomicDepth = Math.min(configuration.maxReadAtomic(), device.attributes().maxReadAtomic());
        try
        {
            verbsProtectionDomain = open.add(device.allocateProtectionDomain());
            tenants = new Tenants(newTenant(Tenant.DEFAULT_NAME, new TenantOptions()));
            receives = open.add(createReceives(configuration, device.attributes()));
            completions = open.add(new CompletionDispatcher(
                device,
                configuration.completionQueueCapacity(),
                receives.completionsOfAll(),
                configuration.completionChannel(),
                doorbells,
                receives::giveBack));
        }
        catch (final RuntimeException ex)
        {
            // What is there already would keep the device from being closed.
            open.close();
            throw ex;
        }
    }

    private ReceiveSupply createReceives(final RaasConfiguration configuration, final DeviceAttributes device)
    {
        return configuration.sharesReceives(device) ?
            new SharedReceives(
                verbsProtectionDomain, configuration.maxCalls(), configuration.rpcCredits(),
                configuration.maxChannels(), configuration.maxRequestReceives(device),
                configuration.messageReceives(), configuration.maxMessageReceives(device),
                "RaasConfiguration.maxReceives") :
            new OwnReceives(verbsProtectionDomain, configuration.rpcCredits(), configuration.messageReceives(),
                configuration.maxChannels());
    }

    /** Closes with these resources, before them. */
    <T extends AutoCloseable> T closeFirst(final T user)
    {
        return open.add(user);
    }

    Device device()
    {
        return device;
    }

    NanoClock clock()
    {
        return clock;
    }

    /** The time of the latest poll to which it was given; reads no clock. */
    long polledAtNs()
    {
        return polledAtNs;
    }

    void polledAtNs(final long nowNs)
    {
        polledAtNs = nowNs;
    }

    /** Whether requests are kept until they have completed. */
    boolean isReplaying()
    {
        return configuration.replayTimeoutNs() > 0;
    }

    long replayTimeoutNs()
    {
        return replayTimeoutNs;
    }

    void replayTimeoutNs(final long timeoutNs)
    {
        replayTimeoutNs = timeoutNs;
    }

    ReplayCounters replays()
    {
        return replays;
    }

    /** Where messages are sealed and opened, of all encrypted connections; there from the first of them on. */
    byte[] cipherScratch()
    {
        if (cipherScratch == null)
        {
            cipherScratch = ConnectionCipher.scratch(
                MessageHeaderDescriptor.HEADER_LENGTH_BYTES + MessageBlock.MAX_MESSAGE_BYTES);
        }
        return cipherScratch;
    }

    RaasConfiguration configuration()
    {
        return configuration;
    }

    Tenants tenants()
    {
        return tenants;
    }

    Tenant newTenant(final String name, final TenantOptions options)
    {
        return new Tenant(name, options, verbsProtectionDomain, device.attributes().maxMessageBytes());
    }

    /** READs and atomics outstanding at once on one physical queue pair: what is configured and the device can do. */
    int readAtomicDepth()
    {
        return readAtomicDepth;
    }

    ProtectionDomain verbsProtectionDomain()
    {
        return verbsProtectionDomain;
    }

    CompletionDispatcher completions()
    {
        return completions;
    }

    ReceiveSupply receives()
    {
        return receives;
    }

    /** Of all virtual queue pairs. */
    BatchPool batches()
    {
        return batches;
    }

    /** The endpoints of messages. */
    MessageTable messages()
    {
        return messages;
    }

    /** A message came whose kind or number nobody here has. */
    void onDroppedMessage()
    {
        droppedMessages++;
    }

    long dropped()
    {
        return droppedMessages;
    }

    /** Of the queue pairs made here. */
    Doorbells doorbells()
    {
        return doorbells;
    }

    /** Reports at the end of this poll: what goes wrong with one peer must not stop the others' completions. */
    void deferError(final RuntimeException error)
    {
        deferredErrors.add(error);
    }

    /** Reports what was deferred. */
    void reportErrors()
    {
        final ErrorHandler handler = configuration.errorHandler();
        while (!deferredErrors.isEmpty())
        {
            handler.onError(deferredErrors.poll());
        }
    }

    @Override
    public void close()
    {
        open.close();
    }
}
