package io.verbena.raas;

import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasLimit;
import io.verbena.raas.usage.ContextUsage;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The physical queue pairs of a context: those made here, one per peer, and those accepted here. */
final class ChannelPool implements ClientChannel.Pool
{
    /** Between looks at queue pairs whose receives tell nothing. */
    private static final long CHECK_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** After a queue pair that could not be closed, for which that may have waited seconds. */
    private static final long RETRY_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_CHECKS = 4;

    private final ContextResources resources;
    private final VirtualQpTable virtualQps;
    private final ClientChannel.CallListener calls;
    private final int maxChannels;
    /** Of those that nobody uses the one whose last user went first comes first. */
    private final Map<PeerAddress, ClientChannel> byPeer = new LinkedHashMap<>();
    private final List<Channel> open = new ArrayList<>();
    private final List<ClientChannel> connecting = new ArrayList<>();
    /** Peers that are read over DC, whose queue pairs are made by the next poll: whoever connects does not wait. */
    private final List<ClientChannel> unopened = new ArrayList<>();
    private final List<VirtualQp> waiting = new ArrayList<>();
    private final List<ClientChannel> retired = new ArrayList<>();
    /** Those that broke and have no other in their place yet. */
    private final List<ClientChannel> broken = new ArrayList<>();
    private final DcTransportPool dcTransports;
    private final VerbCounters closedCounters = new VerbCounters();
    private PeerIdentity identity;
    private Function<PeerAddress, IdentitySecret> secrets = (_) -> null;
    private long nextNonce;
    private long nextCheckNs;
    private int nextCheck;

    ChannelPool(
        final ContextResources resources, final VirtualQpTable virtualQps, final ClientChannel.CallListener calls)
    {
        this.resources = resources;
        this.virtualQps = virtualQps;
        this.calls = calls;
        dcTransports = new DcTransportPool(resources, virtualQps);
        maxChannels = resources.configuration().maxChannels();
        identity = resources.configuration().identity();
        nextCheckNs = resources.clock().nanoTime();
    }

    /** Changes it. The queue pairs made by another registered identity are given to nobody any more. */
    void identity(
        final PeerIdentity newIdentity, final long firstNonce, final Function<PeerAddress, IdentitySecret> newSecrets)
    {
        // As who they were connected for.
        openAll(resources.clock().nanoTime());
        secrets = newSecrets;
        nextNonce = firstNonce;
        if (!newIdentity.equals(identity) && identity.nodeId() != 0)
        {
            retireAll();
        }
        identity = newIdentity;
    }

    RaasLimit limit()
    {
        final String setting = resources.configuration().roomSetting();
        return new RaasLimit("queue pairs", size(), maxChannels,
            setting.isEmpty() ? "RaasConfiguration.maxChannels" : setting);
    }

    /** Queue pairs, with those that are about to be made. */
    private int size()
    {
        return open.size() + unopened.size();
    }

    int clientChannelCount()
    {
        return byPeer.size();
    }

    int dcInitiatorCount()
    {
        return dcTransports.size();
    }

    /** What is open, and was done. */
    ContextUsage usage()
    {
        return new ContextUsage(virtualQps.openCount(), clientChannelCount(), dcInitiatorCount(), resources.dropped(),
            resources.messages().usage(), resources.replays().replays(), resources.tenants().usages());
    }

    /** How the messages of all queue pairs travel. */
    RaasContext.Transports transports()
    {
        final Map<String, Integer> counts = new TreeMap<>();
        final Map<Integer, String> byNode = new TreeMap<>();
        for (final Channel channel : open)
        {
            counts.merge(channel.transport(), 1, Integer::sum);
            if (channel.nodeId() != Channel.NO_NODE)
            {
                byNode.put(channel.nodeId(), channel.transport());
            }
        }
        return new RaasContext.Transports(counts, byNode);
    }

    VerbCounters counters()
    {
        final VerbCounters sum = new VerbCounters().add(closedCounters);
        for (final Channel channel : open)
        {
            sum.add(channel.counters());
        }
        dcTransports.addCounters(sum);
        return sum;
    }

    /** Looks at some queue pairs, each in turn: whether they broke and no completion will say so. */
    int checkStates(final long nowNs)
    {
        if (nextCheckNs - nowNs > 0)
        {
            return 0;
        }
        nextCheckNs = nowNs + CHECK_INTERVAL_NS;
        int broken = 0;
        for (int i = Math.min(MAX_CHECKS, open.size()); i > 0 && !open.isEmpty(); i--)
        {
            nextCheck = nextCheck < open.size() ? nextCheck : 0;
            final Channel channel = open.get(nextCheck++);
            if (channel.isBrokenUnseen() && !connecting.contains(channel))
            {
                channel.breakDown(
                    WorkCompletionStatus.WR_FLUSH_ERR, WorkCompletionStatus.text(WorkCompletionStatus.WR_FLUSH_ERR));
                broken++;
                if (!channel.isClosed())
                {
                    nextCheckNs = nowNs + RETRY_INTERVAL_NS;
                    break;
                }
            }
        }
        return broken;
    }

    boolean needsPoll()
    {
        return !waiting.isEmpty() || !unopened.isEmpty() || !connecting.isEmpty() || !retired.isEmpty() ||
            !broken.isEmpty();
    }

    int poll(final long nowNs)
    {
        closeRetired();
        return replaceBroken(nowNs) + openAll(nowNs) + pollConnecting(nowNs);
    }

    private int openAll(final long nowNs)
    {
        int work = 0;
        while (!unopened.isEmpty())
        {
            final ClientChannel channel = unopened.removeLast();
            work++;
            if (connect(channel, Math.max(1, channel.connectDeadlineNs() - nowNs)))
            {
                connecting.add(channel);
            }
        }
        return work;
    }

    /** Makes the queue pair; false when that failed, which the virtual queue pairs bound to it know then. */
    private boolean connect(final ClientChannel channel, final long timeoutNs)
    {
        try
        {
            channel.connect(secrets.apply(channel.peer()), nextNonce++, timeoutNs);
            return true;
        }
        catch (final RdmaException ex)
        {
            byPeer.values().remove(channel);
            retired.remove(channel);
            channel.failConnecting(ex);
            return false;
        }
    }

    /** Each queue pair made so far is closed when its last user has gone. */
    private void retireAll()
    {
        retired.addAll(byPeer.values());
        byPeer.clear();
        while (!broken.isEmpty())
        {
            broken.removeLast().endReplay("connection broke, and this node has another identity by now");
        }
    }

    /** One that nobody uses is given to nobody any more, and is closed by a poll soon. */
    void forget(final PeerAddress peer)
    {
        final ClientChannel channel = byPeer.get(peer);
        if (channel != null && channel.isReady() && !channel.hasVirtualQps())
        {
            byPeer.remove(peer);
            retired.add(channel);
        }
    }

    private void closeRetired()
    {
        for (int i = retired.size() - 1; i >= 0; i--)
        {
            if (retired.get(i).isUnused())
            {
                retired.get(i).close();
            }
        }
    }

    /** Takes room for one more queue pair, where need be by closing one that nobody uses. */
    boolean reserve(final int sendDepth)
    {
        final int receives = resources.receives().completionsOfEach();
        if (size() < maxChannels && resources.completions().reserve(sendDepth, receives))
        {
            return true;
        }
        // The room of the closed one is there after the next poll, when no stale completion of it can be left.
        final boolean isMakingRoom = size() < maxChannels && dcTransports.closeIdle() || closeUnused();
        return isMakingRoom && size() < maxChannels && resources.completions().reserve(sendDepth, receives);
    }

    /** Gives back what {@link #reserve} took, and no queue pair was made of. */
    void release(final int sendDepth)
    {
        resources.completions().release(sendDepth, resources.receives().completionsOfEach());
    }

    /** Says why {@link #reserve} refuses. */
    String noRoom()
    {
        final RaasConfiguration configuration = resources.configuration();
        final String setting = configuration.roomSetting().isEmpty() ?
            "RaasConfiguration.maxChannels (" + maxChannels + ") or completionQueueCapacity (" +
            configuration.completionQueueCapacity() + ")" : configuration.roomSetting();
        return "no room for another connection: " + size() + " are open; raise " + setting;
    }

    /** Says that all shared receives are given. */
    String noReceives()
    {
        final List<RaasLimit> limits = new ArrayList<>();
        resources.receives().addLimit(limits);
        return limits.getFirst().reached();
    }

    /** Closes the one whose last user went first; false when all are in use. */
    private boolean closeUnused()
    {
        for (final ClientChannel channel : byPeer.values())
        {
            if (channel.isReady() && channel.isUnused())
            {
                channel.close();
                return true;
            }
        }
        return false;
    }

    /** Gives a new virtual queue pair its channel: the pooled one, or one that is being connected. */
    void bind(final VirtualQp vqp, final long nowNs, final long timeoutNs)
    {
        ClientChannel channel = byPeer.get(vqp.peer());
        if (channel == null && !isReplacing(vqp.peer()))
        {
            channel = open(vqp, nowNs, timeoutNs);
        }
        if (channel != null)
        {
            vqp.bind(channel, nowNs + timeoutNs);
            channel.addVirtualQp(vqp.tenant());
            if (channel.carriesReads())
            {
                vqp.onConnected();
            }
            else
            {
                waiting.add(vqp);
            }
        }
        else if (vqp.state() == VirtualQp.State.CONNECTING)
        {
            vqp.bind(null, nowNs + timeoutNs);
            waiting.add(vqp);
        }
    }

    /** Begins to connect; null when it failed, which the virtual queue pair knows then, or there is no room yet. */
    private ClientChannel open(final VirtualQp vqp, final long nowNs, final long timeoutNs)
    {
        if (!reserve(resources.configuration().clientSendDepth()))
        {
            return null;
        }
        final ClientChannel channel = new ClientChannel(resources, this, virtualQps, calls, vqp.peer(), identity);
        final DcTransport dc = dcTransports.take(channel, vqp.readTarget());
        if (dc != null)
        {
            channel.readOver(dc, vqp.defaultRegion(), nowNs + timeoutNs);
            unopened.add(channel);
        }
        else if (connect(channel, timeoutNs))
        {
            connecting.add(channel);
        }
        else
        {
            vqp.fail(channel.failure());
            return null;
        }
        byPeer.put(vqp.peer(), channel);
        return channel;
    }

    private int pollConnecting(final long nowNs)
    {
        int work = 0;
        for (int i = connecting.size() - 1; i >= 0; i--)
        {
            final ClientChannel channel = connecting.get(i);
            if (channel.pollConnect())
            {
                work++;
                connecting.remove(channel);
                if (channel.isReady())
                {
                    onReady(channel);
                }
            }
        }
        return work + failOverdue(nowNs) + bindAgain(nowNs);
    }

    /** Those for which there was no room yet, in the order in which they came. */
    private int bindAgain(final long nowNs)
    {
        int work = 0;
        int index = 0;
        for (int left = waiting.size(); left > 0; left--)
        {
            final VirtualQp vqp = waiting.get(index);
            if (vqp.channel() == null)
            {
                // To the end, behind those that came before it and have been there already, if there is still no room.
                waiting.remove(index);
                bind(vqp, nowNs, vqp.connectDeadlineNs() - nowNs);
                work += vqp.channel() == null && vqp.state() == VirtualQp.State.CONNECTING ? 0 : 1;
            }
            else
            {
                index++;
            }
        }
        return work;
    }

    private void onReady(final ClientChannel channel)
    {
        for (int i = waiting.size() - 1; i >= 0; i--)
        {
            if (waiting.get(i).channel() == channel)
            {
                waiting.remove(i).onConnected();
            }
        }
    }

    private int failOverdue(final long nowNs)
    {
        int work = 0;
        for (int i = waiting.size() - 1; i >= 0; i--)
        {
            final VirtualQp vqp = waiting.get(i);
            if (vqp.connectDeadlineNs() - nowNs <= 0)
            {
                waiting.remove(i);
                vqp.fail(vqp.peer() + ": not connected: " +
                    (vqp.channel() == null && !isReplacing(vqp.peer()) ? noRoom() : "no answer to connect in time"));
                work++;
            }
        }
        return work;
    }

    @Override
    public boolean isReplaceable(final ClientChannel channel)
    {
        return channel.hasVirtualQps() && channel.identity().equals(identity);
    }

    /** Whether another queue pair is to take the place of one to this peer, and there is none yet. */
    private boolean isReplacing(final PeerAddress peer)
    {
        for (final ClientChannel channel : broken)
        {
            if (channel.peer().equals(peer))
            {
                return true;
            }
        }
        return false;
    }

    /** Begins to connect in the place of those that broke, as soon as there is room. */
    private int replaceBroken(final long nowNs)
    {
        int work = 0;
        for (int i = broken.size() - 1; i >= 0; i--)
        {
            final ClientChannel channel = broken.get(i);
            if (channel.isReplayOverdue(nowNs))
            {
                broken.remove(channel);
                channel.endReplay("connection broke, and there was no room for another one in time");
                // Whoever was called back may have connected: the others are looked at by the next poll.
                return work + 1;
            }
            if (reserve(resources.configuration().clientSendDepth()))
            {
                broken.remove(channel);
                if (!replace(channel, nowNs))
                {
                    return work + 1;
                }
                work++;
            }
        }
        return work + endOverdue(nowNs);
    }

    private int endOverdue(final long nowNs)
    {
        for (int i = connecting.size() - 1; i >= 0; i--)
        {
            final ClientChannel channel = connecting.get(i);
            if (channel.isReplayOverdue(nowNs))
            {
                channel.endReplay("connection broke, and another one could not be made in time");
                return 1;
            }
        }
        return 0;
    }

    /** Connects in the place of one; false when that cannot be, and everything of it has ended. */
    private boolean replace(final ClientChannel old, final long nowNs)
    {
        final ClientChannel channel = new ClientChannel(resources, this, virtualQps, calls, old.peer(), identity);
        if (!connect(channel, old.replayDeadlineNs() - nowNs))
        {
            old.endReplay("connection broke, and another one cannot be made: " + channel.failure());
            return false;
        }
        byPeer.put(old.peer(), channel);
        connecting.add(channel);
        channel.replace(old);
        resources.replays().onReplaced();
        for (int index = 0; index < virtualQps.capacity(); index++)
        {
            final VirtualQp vqp = virtualQps.at(index);
            if (vqp != null && vqp.channel() == old && vqp.state() == VirtualQp.State.READY)
            {
                channel.addVirtualQp(vqp.tenant());
                vqp.bind(channel, vqp.connectDeadlineNs());
            }
        }
        return true;
    }

    @Override
    public void failReady(final ClientChannel channel, final String reason)
    {
        for (int index = 0; index < virtualQps.capacity(); index++)
        {
            final VirtualQp vqp = virtualQps.at(index);
            if (vqp != null && vqp.channel() == channel && vqp.state() == VirtualQp.State.READY)
            {
                vqp.fail(reason);
            }
        }
    }

    /** A channel broke or could not be connected: its virtual queue pairs fail, except those that may still wait. */
    @Override
    public void onBroken(
        final ClientChannel channel, final int status, final int offender, final boolean isReplaced)
    {
        if (isReplaced)
        {
            broken.add(channel);
        }
        final long nowNs = resources.clock().nanoTime();
        final boolean isConnectTimeout = status == WorkCompletionStatus.RESP_TIMEOUT_ERR;
        for (int index = 0; index < virtualQps.capacity(); index++)
        {
            final VirtualQp vqp = virtualQps.at(index);
            if (vqp == null || vqp.channel() != channel || isReplaced && vqp.number() != offender)
            {
                continue;
            }
            final boolean wasWaiting = waiting.remove(vqp);
            final long leftNs = vqp.connectDeadlineNs() - nowNs;
            if (wasWaiting && isConnectTimeout && leftNs > 0)
            {
                // It joined an attempt that somebody less patient had begun.
                bind(vqp, nowNs, leftNs);
            }
            else
            {
                vqp.fail(channel.failure());
            }
        }
    }

    void onVirtualQpClosed(final VirtualQp vqp)
    {
        waiting.remove(vqp);
        if (vqp.channel() != null)
        {
            final ClientChannel channel = vqp.channel();
            channel.removeVirtualQp();
            if (!channel.hasVirtualQps() && byPeer.remove(channel.peer(), channel))
            {
                byPeer.put(channel.peer(), channel);
            }
        }
    }

    @Override
    public void onOpened(final Channel channel)
    {
        open.add(channel);
    }

    @Override
    public void onClosed(final Channel channel)
    {
        open.remove(channel);
        closedCounters.add(channel.counters());
        byPeer.values().remove(channel);
        connecting.remove(channel);
        retired.remove(channel);
    }

    void close()
    {
        for (int index = 0; index < virtualQps.capacity(); index++)
        {
            final VirtualQp vqp = virtualQps.at(index);
            if (vqp != null)
            {
                vqp.close();
            }
        }
        while (!unopened.isEmpty())
        {
            unopened.removeLast().close();
        }
        while (!open.isEmpty())
        {
            open.getLast().close();
        }
        dcTransports.close();
    }
}
