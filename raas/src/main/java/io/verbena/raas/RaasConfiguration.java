package io.verbena.raas;

import io.verbena.raas.completion.RequestId;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.SharedReceives;
import io.verbena.rdma.verbs.CompletionChannel;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import org.agrona.ErrorHandler;

import java.util.concurrent.TimeUnit;

/**
 * Sizes and limits of a {@link RaasContext}. Read once by {@link RaasContext#open}; not thread-safe. Defaults suit some
 * tens of peers.
 */
public final class RaasConfiguration
{
    /**
     * Send slots of a queue pair for each credit, at both ends: a reply can arrive before the completion of the
     * request's own SEND, and the next request before that of the last reply's.
     */
    static final int SENDS_PER_CREDIT = 2;
    /** Channels that have all the credits they want, without an option. */
    private static final int FULL_CHANNELS = 128;

    private int sendQueueDepth = 256;
    private int maxBatchRequests = 64;
    private int maxOpenBatches = 256;
    private int maxReadAtomic = 128;
    private int maxChannels = 64;
    private int completionQueueCapacity = 4096;
    private int maxVirtualQps = (1 << RequestId.INDEX_BITS) - 1;
    private int dcInitiators = 4;
    private int rpcCredits = 8;
    private int maxCalls = 64;
    private int maxReceives;
    private int messageReceives;
    private int sharedWindowBytes = 16 * 1024;
    private int replySlots = 64;
    /** Null for what follows from the number of peers. */
    private Boolean isSharingReceives;
    private long probeIntervalNs = TimeUnit.SECONDS.toNanos(1);
    private long replayTimeoutNs;
    private PeerIdentity identity = PeerIdentity.UNREGISTERED;
    private boolean isEncrypted;
    private ErrorHandler errorHandler = RaasConfiguration::rethrow;
    /** By default reads go over connected queue pairs, and nobody hears of it. */
    private ErrorHandler dcFailureHandler = (_) -> { };
    private CompletionChannel completionChannel;
    private String roomSetting = "";

    /** Defaults. */
    public RaasConfiguration()
    {
    }

    /** A copy that nobody else changes. */
    RaasConfiguration(final RaasConfiguration other)
    {
        sendQueueDepth = other.sendQueueDepth;
        maxBatchRequests = other.maxBatchRequests;
        maxOpenBatches = other.maxOpenBatches;
        maxReadAtomic = other.maxReadAtomic;
        maxChannels = other.maxChannels;
        completionQueueCapacity = other.completionQueueCapacity;
        maxVirtualQps = other.maxVirtualQps;
        dcInitiators = other.dcInitiators;
        rpcCredits = other.rpcCredits;
        maxCalls = other.maxCalls;
        maxReceives = other.maxReceives;
        messageReceives = other.messageReceives;
        sharedWindowBytes = other.sharedWindowBytes;
        replySlots = other.replySlots;
        isSharingReceives = other.isSharingReceives;
        probeIntervalNs = other.probeIntervalNs;
        replayTimeoutNs = other.replayTimeoutNs;
        identity = other.identity;
        isEncrypted = other.isEncrypted;
        errorHandler = other.errorHandler;
        dcFailureHandler = other.dcFailureHandler;
        completionChannel = other.completionChannel;
        roomSetting = other.roomSetting;
    }

    private static void rethrow(final Throwable error)
    {
        if (error instanceof final RuntimeException exception)
        {
            throw exception;
        }
        throw new IllegalStateException(error);
    }

    /** @return what raises an event when something arrives, or null. */
    public CompletionChannel completionChannel()
    {
        return completionChannel;
    }

    /**
     * For an owner that sleeps while nothing happens. A context whose polls find nothing for a while arms its queues;
     * the owner may then wait on the channel, not too long, because new connections raise no event. Several contexts of
     * one device may share a channel.
     *
     * @param channel of the context's device, closed by the caller after the context; null, the default, for none.
     * @return this.
     */
    public RaasConfiguration completionChannel(final CompletionChannel channel)
    {
        this.completionChannel = channel;
        return this;
    }

    /** @return one-sided requests outstanding on one physical queue pair, over all its virtual queue pairs. */
    public int sendQueueDepth()
    {
        return sendQueueDepth;
    }

    /**
     * @param requests one-sided requests outstanding on one physical queue pair, 1 or more; default 256.
     * @return this.
     */
    public RaasConfiguration sendQueueDepth(final int requests)
    {
        this.sendQueueDepth = requests;
        return this;
    }

    /** @return most requests in one batch. */
    public int maxBatchRequests()
    {
        return maxBatchRequests;
    }

    /**
     * @param requests most requests in one batch, at most {@link #sendQueueDepth()}; default 64.
     * @return this.
     */
    public RaasConfiguration maxBatchRequests(final int requests)
    {
        this.maxBatchRequests = requests;
        return this;
    }

    /** @return most batches begun and neither completed nor aborted, over all virtual queue pairs. */
    public int maxOpenBatches()
    {
        return maxOpenBatches;
    }

    /**
     * @param batches begun and neither completed nor aborted, over all virtual queue pairs, 1 to 65,535: when so many
     *                are, one more is QUEUE_FULL. Memory of about 72 bytes a request is taken, and kept, for as many as
     *                were ever open at once. Default 256.
     * @return this.
     */
    public RaasConfiguration maxOpenBatches(final int batches)
    {
        this.maxOpenBatches = batches;
        return this;
    }

    /** @return READs and atomics outstanding at once on one physical queue pair. */
    public int maxReadAtomic()
    {
        return maxReadAtomic;
    }

    /**
     * @param requests READs and atomics outstanding at once on one physical queue pair; lowered to what the device can
     *                 do; later ones wait in the send queue. Default 128.
     * @return this.
     */
    public RaasConfiguration maxReadAtomic(final int requests)
    {
        this.maxReadAtomic = requests;
        return this;
    }

    /** @return requests outstanding over all physical queue pairs. */
    public int completionQueueCapacity()
    {
        return completionQueueCapacity;
    }

    /**
     * @param requests outstanding over all physical queue pairs. Each queue pair made here takes
     *                 {@link #sendQueueDepth()} plus twice {@link #rpcCredits()} of it, each one accepted here twice
     *                 {@link #rpcCredits()}; when it is used up, connecting is refused. Default 4,096: 15 peers;
     *                 {@link #peers} computes it.
     * @return this.
     */
    public RaasConfiguration completionQueueCapacity(final int requests)
    {
        this.completionQueueCapacity = requests;
        return this;
    }

    /**
     * Sets {@link #maxChannels()} and {@link #completionQueueCapacity()} to what so many peers need; after everything
     * else that determines them. A device with shorter completion queues gets the longest that it has: peers beyond
     * that are refused when they come.
     *
     * @param connected most peers that this side connects to, 0 or more.
     * @param accepted  most peers that are accepted at once, 0 or more.
     * @param device    of the context.
     * @return this.
     */
    public RaasConfiguration peers(final int connected, final int accepted, final DeviceAttributes device)
    {
        final long completions = (long)connected * clientSendDepth() +
            (long)accepted * serverSendDepth() + (long)dcInitiators * maxBatchRequests;
        maxChannels = (int)Math.min(
            (long)connected + accepted, device.maxCompletions() / (rpcCredits + messageReceives));
        completionQueueCapacity = (int)Math.min(
            Math.max(completions, clientSendDepth()), device.maxCompletions());
        return this;
    }

    /** @return what a user raises to have room for more connections; empty for the names in this class. */
    public String roomSetting()
    {
        return roomSetting;
    }

    /**
     * @param setting what a user raises to have room for more connections, with its present value, as messages name it;
     *                default: {@link #maxChannels()} and {@link #completionQueueCapacity()}.
     * @return this.
     */
    public RaasConfiguration roomSetting(final String setting)
    {
        roomSetting = setting;
        return this;
    }

    /** @return most physical queue pairs, made and accepted together. */
    public int maxChannels()
    {
        return maxChannels;
    }

    /**
     * @param channels most physical queue pairs, made and accepted together; the receive completion queue is sized by
     *                 it. Default 64.
     * @return this.
     */
    public RaasConfiguration maxChannels(final int channels)
    {
        this.maxChannels = channels;
        return this;
    }

    /** @return most DC initiators. */
    public int dcInitiators()
    {
        return dcInitiators;
    }

    /**
     * @param initiators most DC initiators, 0 for none: so many peers can be read at once while they are being
     *                   connected. Each takes {@link #maxBatchRequests()} of {@link #completionQueueCapacity()} until
     *                   a queue pair needs it. Default 4; without meaning where the device has no DC.
     * @return this.
     */
    public RaasConfiguration dcInitiators(final int initiators)
    {
        this.dcInitiators = initiators;
        return this;
    }

    /** @return most virtual queue pairs open at once. */
    public int maxVirtualQps()
    {
        return maxVirtualQps;
    }

    /**
     * @param virtualQps most virtual queue pairs open at once, 1 to 65,535, the default.
     * @return this.
     */
    public RaasConfiguration maxVirtualQps(final int virtualQps)
    {
        this.maxVirtualQps = virtualQps;
        return this;
    }

    /** @return calls outstanding on one physical queue pair; the less of both sides counts. */
    public int rpcCredits()
    {
        return rpcCredits;
    }

    /**
     * @param calls outstanding on one physical queue pair, 1 to 1,024; each costs a receive buffer of 4 KiB at the
     *              peer, and here as far as so many calls are made at once. Default 8.
     * @return this.
     */
    public RaasConfiguration rpcCredits(final int calls)
    {
        this.rpcCredits = calls;
        return this;
    }

    /** @return calls of a context that are queued or outstanding, over all peers. */
    public int maxCalls()
    {
        return maxCalls;
    }

    /**
     * @param calls of a context that are queued or outstanding, over all peers, 1 to 65,535; default 64.
     * @return this.
     */
    public RaasConfiguration maxCalls(final int calls)
    {
        this.maxCalls = calls;
        return this;
    }

    /** @return receives kept for requests of all peers together; 0 for as many as follow from the other limits. */
    public int maxReceives()
    {
        return maxReceives;
    }

    /**
     * @param receives kept for requests of all peers together, {@link #maxChannels()} or more, where receives are
     *                 shared: each accepted peer has one or more, up to {@link #rpcCredits()}, and no peer takes those
     *                 of another. Memory of 4 KiB each is registered when peers come. 0, the default: so many as
     *                 {@code rpcCredits} for 128 channels and one for each of those beyond, as far as the device goes.
     * @return this.
     */
    public RaasConfiguration maxReceives(final int receives)
    {
        maxReceives = receives;
        return this;
    }

    /** @return receives of each queue pair for messages of {@link MessageEndpoint}s. */
    public int messageReceives()
    {
        return messageReceives;
    }

    /**
     * @param receives of each queue pair, made or accepted, for messages of its {@link MessageEndpoint}s, 0 to 8,192:
     *                 an endpoint takes its credits and 3 of them. Memory of 4 KiB each is registered for each queue
     *                 pair, or, where receives are shared, for each that an endpoint has taken. An accepted queue pair
     *                 has as many more send slots, and one that was made here gives its peer the right to write to
     *                 memory whose key it knows. 0, the default: no messages.
     * @return this.
     */
    public RaasConfiguration messageReceives(final int receives)
    {
        messageReceives = receives;
        return this;
    }

    /** @return whether receives are shared where the device can do that. */
    public boolean sharesReceives()
    {
        return isSharingReceives != null ? isSharingReceives : maxChannels > FULL_CHANNELS;
    }

    /**
     * @param isSharing whether all queue pairs share receives where the device has shared receive queues. Otherwise,
     *                  and on other devices, each has {@link #rpcCredits()} receives of its own, which some devices
     *                  serve faster. Default: with more than 128 {@link #maxChannels()}.
     * @return this.
     */
    public RaasConfiguration sharesReceives(final boolean isSharing)
    {
        isSharingReceives = isSharing;
        return this;
    }

    boolean sharesReceives(final DeviceAttributes device)
    {
        return sharesReceives() && device.supports(DeviceCapability.SHARED_RECEIVE_QUEUE) &&
            mostRequestReceives(device) >= maxChannels;
    }

    /** Receives for requests that a shared queue of the device has room for. */
    private int mostRequestReceives(final DeviceAttributes device)
    {
        return Math.min(device.maxSharedReceiveRequests(), device.maxCompletions()) -
            SharedReceives.maxReplies(maxCalls);
    }

    int maxRequestReceives(final DeviceAttributes device)
    {
        final int wanted = maxReceives > 0 ? maxReceives : rpcCredits * Math.min(maxChannels, FULL_CHANNELS) +
            Math.max(0, maxChannels - FULL_CHANNELS);
        return Math.min(wanted, mostRequestReceives(device));
    }

    /** Receives for messages of all queue pairs that a shared queue of the device has room for beside the others. */
    int maxMessageReceives(final DeviceAttributes device)
    {
        return (int)Math.min(
            (long)messageReceives * maxChannels, mostRequestReceives(device) - maxRequestReceives(device));
    }

    /** @return replies of a server that are on their way at once, to all its peers. */
    public int replySlots()
    {
        return replySlots;
    }

    /**
     * @param replies of a server that are on their way at once, to all its peers, 1 to 65,535; each costs a buffer of 4
     *                KiB. No peer has more of them than are free beside, so that none takes those of others. Default
     *                64.
     * @return this.
     */
    public RaasConfiguration replySlots(final int replies)
    {
        replySlots = replies;
        return this;
    }

    /** @return bytes posted at once on a queue pair that several tenants share. */
    public int sharedWindowBytes()
    {
        return sharedWindowBytes;
    }

    /**
     * @param bytes posted at once on a queue pair that several tenants share, 256 for each request included, as far as
     *              one request is not longer: what is posted is in front of a tenant that comes then. To use all of a
     *              network it takes what that carries in a round trip; 1,024 or more, default 16 KiB. A queue pair that
     *              one tenant has for itself is not limited by it.
     * @return this.
     */
    public RaasConfiguration sharedWindowBytes(final int bytes)
    {
        sharedWindowBytes = bytes;
        return this;
    }

    /** @return after how long of silence a server probes whether a peer is still there. */
    public long probeIntervalNs()
    {
        return probeIntervalNs;
    }

    /**
     * @param probeIntervalNs after how long of silence a server probes whether a peer is still there, by a READ of
     *                        length 0; a queue pair whose peer is gone is closed then. 1 or more; default 1 s.
     * @return this.
     */
    public RaasConfiguration probeIntervalNs(final long probeIntervalNs)
    {
        this.probeIntervalNs = probeIntervalNs;
        return this;
    }

    /** @return how long a queue pair that broke is replaced; 0: not at all. */
    public long replayTimeoutNs()
    {
        return replayTimeoutNs;
    }

    /**
     * @param timeoutNs how long after a queue pair of this side broke another one to the same incarnation of the peer
     *                  takes its place: its virtual queue pairs stay READY meanwhile, requests that had no effect are
     *                  posted again there, and of a batch that may have been executed
     *                  {@link BatchListener#OUTCOME_UNKNOWN} is reported. For less than what the peer has
     *                  granted its memory for. A peer that does not say which incarnation it is has its queue pairs
     *                  not replaced. 0, the default: all virtual queue pairs of one that broke FAIL at once.
     * @return this.
     */
    public RaasConfiguration replayTimeoutNs(final long timeoutNs)
    {
        this.replayTimeoutNs = timeoutNs;
        return this;
    }

    /** @return who this node is to its peers until {@link RaasContext#identity(PeerIdentity)} says otherwise. */
    public PeerIdentity identity()
    {
        return identity;
    }

    /**
     * @param identity who this node is to its peers; default {@link PeerIdentity#UNREGISTERED}.
     * @return this.
     */
    public RaasConfiguration identity(final PeerIdentity identity)
    {
        this.identity = identity;
        return this;
    }

    boolean isEncrypted()
    {
        return isEncrypted;
    }

    /**
     * @param isOn whether calls over queue pairs made here are encrypted; not with {@link #replayTimeoutNs()}. Where
     *             the identity proves nothing, or the peer knows no encryption, connecting fails. Default: false.
     * @return this.
     */
    public RaasConfiguration encrypted(final boolean isOn)
    {
        isEncrypted = isOn;
        return this;
    }

    /** @return called with what listeners, handlers and acceptors throw. */
    public ErrorHandler errorHandler()
    {
        return errorHandler;
    }

    /**
     * @param errorHandler gets, at the end of {@link RaasContext#poll()}, what listeners, handlers and acceptors throw:
     *                     that of one tenant must not keep others from their completions. Default: throws it out of
     *                     {@link RaasContext#poll()}.
     * @return this.
     */
    public RaasConfiguration errorHandler(final ErrorHandler errorHandler)
    {
        this.errorHandler = errorHandler;
        return this;
    }

    /** @return called with the failure of each DC initiator. */
    public ErrorHandler dcFailureHandler()
    {
        return dcFailureHandler;
    }

    /**
     * @param handler called with the failure of each DC initiator: one that could not be made or given a target, and
     *                one that broke. Peers are reached over connected queue pairs then, so nothing else is reported. It
     *                is called while the context works: it counts and logs, does not use the context and does not
     *                throw. Default: nothing.
     * @return this.
     */
    public RaasConfiguration dcFailureHandler(final ErrorHandler handler)
    {
        dcFailureHandler = handler;
        return this;
    }

    /** Send slots of a queue pair made here: for one-sided requests and for calls. */
    int clientSendDepth()
    {
        return sendQueueDepth + SENDS_PER_CREDIT * rpcCredits;
    }

    /** Send slots of a queue pair accepted here: for replies, messages and one probe. */
    int serverSendDepth()
    {
        return SENDS_PER_CREDIT * rpcCredits + messageReceives + 1;
    }

    /** Throws when a value is out of its range or the device cannot do it. */
    void validate(final DeviceAttributes device)
    {
        final int depth = clientSendDepth();
        require("rpcCredits", rpcCredits, 1, 1024);
        require("sendQueueDepth", sendQueueDepth, 1, device.maxQueuePairRequests() - (depth - sendQueueDepth));
        require("maxBatchRequests", maxBatchRequests, 1, sendQueueDepth);
        require("maxOpenBatches", maxOpenBatches, 1, 65_535);
        require("replySlots", replySlots, 1, 65_535);
        require("sharedWindowBytes", sharedWindowBytes, 1024, Integer.MAX_VALUE);
        require("maxReadAtomic", maxReadAtomic, 1, Integer.MAX_VALUE);
        require("probeIntervalNs", (int)Math.min(probeIntervalNs, Integer.MAX_VALUE), 1, Integer.MAX_VALUE);
        require("replayTimeoutNs", Math.clamp(replayTimeoutNs, -1, Integer.MAX_VALUE), 0, Integer.MAX_VALUE);
        require("replayTimeoutNs (encrypted)", isEncrypted && replayTimeoutNs > 0 ? 1 : 0, 0, 0);
        require("maxVirtualQps", maxVirtualQps, 1, (1 << RequestId.INDEX_BITS) - 1);
        require("dcInitiators", dcInitiators, 0, 1024);
        require("maxCalls", maxCalls, 1, MessageImmediateDescriptor.MAX_SLOTS - 1);
        require("completionQueueCapacity", completionQueueCapacity, depth, device.maxCompletions());
        if (maxReceives != 0 && sharesReceives(device))
        {
            require("maxReceives", maxReceives, maxChannels, mostRequestReceives(device));
        }
        require("messageReceives", messageReceives, 0, 8192);
        require("maxChannels", maxChannels, 1, device.maxCompletions() / (rpcCredits + messageReceives));
    }

    private static void require(final String name, final int value, final int least, final int most)
    {
        if (value < least || value > most)
        {
            throw new RaasMisuseException(
                "RaasConfiguration." + name + " is " + value + ", it must be " + least + " to " + most);
        }
    }
}
