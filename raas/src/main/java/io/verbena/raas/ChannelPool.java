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
import java.util.function.Function;

/** The physical queue pairs of a context: those made here, one per peer, and those accepted here. */
final class ChannelPool implements ClientChannel.Pool, DcTransportPool.Peers.Owner
{
    private final ContextResources resources;
    private final VirtualQpTable virtualQps;
    private final Channel.CallListener calls;
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
    private final DcTransportPool.Peers dcPeers;
    private final Channel.StateChecks stateChecks;
    private final VerbCounters closedCounters = new VerbCounters();
    private PeerIdentity identity;
    private Function<PeerAddress, IdentitySecret> secrets = (_) -> null;
    private long nextNonce;

    ChannelPool(
        final ContextResources resources, final VirtualQpTable virtualQps, final Channel.CallListener calls)
    {
        this.resources = resources;
        this.virtualQps = virtualQps;
        this.calls = calls;
        dcTransports = new DcTransportPool(resources, virtualQps);
        maxChannels = resources.configuration().maxChannels();
        identity = resources.configuration().identity();
        final long nowNs = resources.clock().nanoTime();
        dcPeers = new DcTransportPool.Peers(resources, this, dcTransports, byPeer, open, nowNs);
        stateChecks = new Channel.StateChecks(open, connecting::contains, nowNs);
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

    /** What is open, and was done. */
    ContextUsage usage()
    {
        return new ContextUsage(virtualQps.openCount(), byPeer.size() - dcPeers.staying().size(), dcTransports.size(),
            resources.dropped(),
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
        for (final ClientChannel channel : dcPeers.staying())
        {
            counts.merge(channel.way(), 1, Integer::sum);
            byNode.put(channel.nodeId(), channel.way());
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

    int checkStates(final long nowNs)
    {
        return stateChecks.run(nowNs);
    }

    boolean needsPoll()
    {
        return !waiting.isEmpty() || !unopened.isEmpty() || !connecting.isEmpty() || !retired.isEmpty() ||
            !broken.isEmpty() || dcPeers.isActive();
    }

    int poll(final long nowNs)
    {
        closeRetired();
        final int work = dcPeers.isActive() ? dcPeers.poll(nowNs) : 0;
        return work + replaceBroken(nowNs) + openAll(nowNs) + pollConnecting(nowNs);
    }

    private int openAll(final long nowNs)
    {
        int work = 0;
        while (!unopened.isEmpty())
        {
            final ClientChannel channel = unopened.removeLast();
            work++;
            connect(channel, Math.max(1, channel.connectDeadlineNs() - nowNs));
        }
        return work;
    }

    /** Makes the queue pair; false when that failed, which the virtual queue pairs bound to it know then. */
    @Override
    public boolean connect(final ClientChannel channel, final long timeoutNs)
    {
        try
        {
            channel.connect(secrets.apply(channel.peer()), nextNonce++, timeoutNs);
            connecting.add(channel);
            return true;
        }
        catch (final RdmaException ex)
        {
            if (channel.hasPath() && channel.carriesWrites())
            {
                onNotPromoted(channel);
            }
            byPeer.values().remove(channel);
            retired.remove(channel);
            channel.failConnecting(ex);
            return false;
        }
    }

    /** Each queue pair made so far is closed when its last user has gone. */
    private void retireAll()
    {
        byPeer.values().stream().filter(channel -> !channel.isStaying()).forEach(retired::add);
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

    /** Takes room for one more queue pair, where need be by closing one that nobody uses or that can stay on DC. */
    boolean reserve(final int sendDepth)
    {
        return reserveFree(sendDepth) || makeRoom() && reserveFree(sendDepth);
    }

    private boolean reserveFree(final int sendDepth)
    {
        return size() < maxChannels &&
            resources.completions().reserve(sendDepth, resources.receives().completionsOfEach());
    }

    /** The room of a closed one is there after the next poll, when no stale completion of it can be left. */
    private boolean makeRoom()
    {
        return size() < maxChannels && dcTransports.closeIdle(dcPeers.isActive() ? 1 : 0) || closeUnused() ||
            dcPeers.makeRoom();
    }

    @Override
    public boolean reserve(final boolean isMakingRoom)
    {
        final int sendDepth = resources.configuration().clientSendDepth();
        return isMakingRoom ? reserve(sendDepth) : reserveFree(sendDepth);
    }

    /** Gives back what {@link #reserve} took, and no queue pair was made of. */
    void release(final int sendDepth)
    {
        resources.completions().release(sendDepth, resources.receives().completionsOfEach());
    }

    /** Says why {@link #reserve} refuses. */
    String noRoom()
    {
        return resources.noRoom(size());
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
            channel.target(vqp.readTarget());
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
        final ClientChannel channel = new ClientChannel(resources, this, virtualQps, calls, vqp.peer(), identity, true);
        final DcTransport.Path dc = dcTransports.readFirst(channel, vqp.readTarget());
        if (dc != null)
        {
            channel.readOver(dc, vqp.defaultRegion(), nowNs + timeoutNs);
            unopened.add(channel);
        }
        else if (!connect(channel, timeoutNs))
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
        final ClientChannel channel = new ClientChannel(resources, this, virtualQps, calls, old.peer(), identity, true);
        if (!connect(channel, old.replayDeadlineNs() - nowNs))
        {
            old.endReplay("connection broke, and another one cannot be made: " + channel.failure());
            return false;
        }
        channel.replace(old);
        resources.replays().onReplaced();
        goOver(old, channel);
        return true;
    }

    @Override
    public void goOver(final ClientChannel old, final ClientChannel channel)
    {
        byPeer.put(old.peer(), channel);
        for (int index = 0; index < virtualQps.capacity(); index++)
        {
            final VirtualQp vqp = virtualQps.at(index);
            if (vqp != null && vqp.channel() == old && vqp.state() == VirtualQp.State.READY)
            {
                channel.addVirtualQp(vqp.tenant());
                vqp.bind(channel, vqp.connectDeadlineNs());
            }
        }
    }

    @Override
    public ClientChannel withoutRoom(final ClientChannel old)
    {
        return new ClientChannel(resources, this, virtualQps, calls, old.peer(), old.identity(), false);
    }

    @Override
    public void onNotPromoted(final ClientChannel channel)
    {
        dcPeers.onNotPromoted(channel, resources.clock().nanoTime());
    }

    @Override
    public void onQueuePairWanted(final ClientChannel channel)
    {
        dcPeers.want(channel);
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
        dcPeers.staying().forEach(Channel::close);
        dcTransports.close();
    }
}
