package io.verbena.raas;

import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.VerbCounters;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The physical queue pairs of a context: those made here, one per peer, and those accepted here. */
final class ChannelPool
{
    private final RaasContext context;
    private final int maxChannels;
    private final Map<PeerAddress, ClientChannel> byPeer = new HashMap<>();
    private final List<Channel> open = new ArrayList<>();
    private final List<ClientChannel> connecting = new ArrayList<>();
    private final List<VirtualQp> waiting = new ArrayList<>();
    private final List<ClientChannel> retired = new ArrayList<>();
    private final DcCarrierPool carriers;
    private final VerbCounters closedCounters = new VerbCounters();

    ChannelPool(final RaasContext context)
    {
        this.context = context;
        carriers = new DcCarrierPool(context);
        maxChannels = context.configuration().maxChannels();
    }

    int clientChannelCount()
    {
        return byPeer.size();
    }

    int dcInitiatorCount()
    {
        return carriers.size();
    }

    Map<String, Integer> carriers()
    {
        final Map<String, Integer> counts = new TreeMap<>();
        open.forEach(channel -> counts.merge(channel.carrier(), 1, Integer::sum));
        return counts;
    }

    VerbCounters counters()
    {
        final VerbCounters sum = new VerbCounters().add(closedCounters);
        for (final Channel channel : open)
        {
            sum.add(channel.counters());
        }
        carriers.addCounters(sum);
        return sum;
    }

    boolean needsPoll()
    {
        return !waiting.isEmpty() || !connecting.isEmpty() || !retired.isEmpty();
    }

    int poll(final long nowNs)
    {
        closeRetired();
        return pollConnecting(nowNs);
    }

    /** Gives the queue pairs made so far to nobody any more; each is closed when its last user has gone. */
    void retireAll()
    {
        retired.addAll(byPeer.values());
        byPeer.clear();
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
        final int receives = context.configuration().rpcCredits();
        if (open.size() < maxChannels && context.completions().reserve(sendDepth, receives))
        {
            return true;
        }
        // The room of the closed one is there after the next poll, when no stale completion of it can be left.
        final boolean isMakingRoom = open.size() < maxChannels && carriers.closeIdle() || closeUnused();
        return isMakingRoom && open.size() < maxChannels && context.completions().reserve(sendDepth, receives);
    }

    /** Says why {@link #reserve} refuses. */
    String noRoom()
    {
        final RaasConfiguration configuration = context.configuration();
        final String setting = configuration.roomSetting().isEmpty() ?
            "RaasConfiguration.maxChannels (" + maxChannels + ") or completionQueueCapacity (" +
            configuration.completionQueueCapacity() + ")" : configuration.roomSetting();
        return "no room for another connection: " + open.size() + " are open; raise " + setting;
    }

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
        if (channel == null)
        {
            channel = open(vqp, timeoutNs);
        }
        if (channel != null)
        {
            vqp.bind(channel, nowNs + timeoutNs);
            channel.addVirtualQp();
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

    /** Begins to connect; null when it failed, which the virtual queue pair knows then, or must be tried again. */
    private ClientChannel open(final VirtualQp vqp, final long timeoutNs)
    {
        final int dataDepth = context.configuration().sendQueueDepth();
        if (!reserve(ClientChannel.sendDepth(dataDepth, context.configuration().rpcCredits())))
        {
            if (open.size() >= maxChannels || !context.completions().isRoomComing())
            {
                vqp.fail(vqp.peer() + ": not connected: " + noRoom());
            }
            return null;
        }
        ClientChannel channel = null;
        try
        {
            channel = new ClientChannel(context, vqp.peer(), dataDepth);
            channel.connect(timeoutNs);
        }
        catch (final RdmaException ex)
        {
            vqp.fail(vqp.peer() + ": not connected: " + ex.getMessage());
            if (channel != null)
            {
                channel.close();
            }
            return null;
        }
        byPeer.put(vqp.peer(), channel);
        connecting.add(channel);
        final DcCarrier carrier = carriers.take(channel, vqp.readTarget());
        if (carrier != null)
        {
            channel.readOver(carrier, vqp.readRegion());
        }
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

    /** Those for which there was no room yet. */
    private int bindAgain(final long nowNs)
    {
        int work = 0;
        for (int i = waiting.size() - 1; i >= 0; i--)
        {
            final VirtualQp vqp = waiting.get(i);
            if (vqp.channel() == null)
            {
                waiting.remove(i);
                bind(vqp, nowNs, vqp.connectDeadlineNs() - nowNs);
                work++;
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
                vqp.fail(vqp.peer() + ": not connected: no answer to connect in time");
                work++;
            }
        }
        return work;
    }

    /** A channel broke or could not be connected: its virtual queue pairs fail, except those that may still wait. */
    void onBroken(final ClientChannel channel, final int status)
    {
        final long nowNs = context.clock().nanoTime();
        final boolean isConnectTimeout = status == WorkCompletionStatus.RESP_TIMEOUT_ERR;
        final VirtualQpTable table = context.virtualQps();
        for (int index = 0; index < table.capacity(); index++)
        {
            final VirtualQp vqp = table.at(index);
            if (vqp == null || vqp.channel() != channel)
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
            vqp.channel().removeVirtualQp();
        }
    }

    void onOpened(final Channel channel)
    {
        open.add(channel);
    }

    void onClosed(final Channel channel)
    {
        open.remove(channel);
        closedCounters.add(channel.counters());
    }

    void onClientClosed(final ClientChannel channel)
    {
        byPeer.remove(channel.peer(), channel);
        connecting.remove(channel);
        retired.remove(channel);
    }

    void close()
    {
        for (int index = 0; index < context.virtualQps().capacity(); index++)
        {
            final VirtualQp vqp = context.virtualQps().at(index);
            if (vqp != null)
            {
                vqp.close();
            }
        }
        while (!open.isEmpty())
        {
            open.getLast().close();
        }
        carriers.close();
    }
}
