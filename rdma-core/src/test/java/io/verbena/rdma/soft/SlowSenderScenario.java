package io.verbena.rdma.soft;

import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.ConnectionListener;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Two processes, as far as the protocol goes, send a datagram each to one queue pair, or ask one listener for a
 * connection each. The first one is stopped or killed after some of its steps; what the second one does has to arrive
 * meanwhile, and what the first one held comes back when it is dead, though the others go on. The seed tells what they
 * do, what becomes of the first, and after how many steps. Loaded by {@link SteppedLoader}. Result: what is wrong, or
 * null.
 */
public final class SlowSenderScenario implements BiFunction<Long, Path, String>
{
    private static final int RECEIVES = 4;
    private static final int CAPACITY = 16;
    private static final int PORT = 9;
    private static final int VALUE_OFFSET = GlobalRoutingHeader.LENGTH_BYTES;
    private static final int POLLS = 8;
    /** More than fit into the completion queue. */
    private static final int MANY = 200;
    private static final long PATIENCE_NS = 20_000_000_000L;

    private final WorkCompletions batch = new WorkCompletions(1);
    private final List<Sender> senders = new ArrayList<>();
    private final Set<Integer> arrived = new HashSet<>();
    private final StringBuilder wrong = new StringBuilder();
    private Path directory;
    private Endpoint target;
    private QueuePair datagrams;
    private boolean isDead;
    private int posted;
    private int completed;
    private int served;

    /** One process: sends one datagram at a time, each of which holds the sender's index. */
    private final class Sender
    {
        private final int index = senders.size();
        private final SoftFabric fabric = open();
        private final Endpoint endpoint = new Endpoint(fabric.openDevice("sender-" + index));
        private final AddressHandle toTarget = endpoint.domain.createAddressHandle(target.device.address());
        private final QueuePair queuePair = SoftConnections.datagrams(endpoint.domain, endpoint.completions);
        private final WorkCompletions completions = new WorkCompletions(1);
        private int visitor;

        /** Attaching takes a lock that real processes do not share. */
        private Sender attach()
        {
            visitor = ((SoftDevice)endpoint.device).host().usePeer(target.device.address().gidLow()).visitor();
            return this;
        }

        private void send()
        {
            endpoint.putLong(0, index);
            queuePair.begin();
            queuePair.send(1, SendFlags.SIGNALED, endpoint.address(0), Long.BYTES, endpoint.key());
            queuePair.toQueuePair(toTarget, datagrams.number(), SoftConnections.QKEY);
            queuePair.complete();
            endpoint.completions.poll(completions);
        }

        private void connect()
        {
            final byte[] data = ByteBuffer.allocate(Integer.BYTES).putInt(index).array();
            endpoint.device.connect(
                endpoint.queuePair, target.device.address(), PORT, AccessFlags.ALL_REMOTE, data, PATIENCE_NS);
        }

        private int ownerId()
        {
            return ((SoftDevice)endpoint.device).host().file().ownerId();
        }

        private void close()
        {
            toTarget.close();
            queuePair.close();
            endpoint.close();
            endpoint.device.close();
            fabric.close();
        }
    }

    @Override
    public String apply(final Long seed, final Path path)
    {
        directory = path;
        final boolean isConnecting = (seed & 1) != 0;
        final boolean isKilled = (seed & 2) != 0;
        final boolean isKnownAtOnce = (seed & 4) != 0;
        final SoftFabric fabric = open();
        target = new Endpoint(fabric.openDevice("target"));
        datagrams = SoftConnections.datagrams(target.domain, target.completions);
        final ConnectionListener listener = target.device.listen(PORT);
        senders.add(new Sender().attach());
        senders.add(new Sender().attach());
        final Interleaver interleaver = new Interleaver(seed);
        try
        {
            interleaver.add("first", isConnecting ? senders.get(0)::connect : senders.get(0)::send);
            interleaver.add("second", isConnecting ? senders.get(1)::connect : senders.get(1)::send);
            interleaver.freezeAfter("first", (int)(seed >>> 3));
            for (int i = 0; i < RECEIVES; i++)
            {
                post();
            }
            interleaver.run("first");
            isDead = isKilled && interleaver.isFrozen();
            if (isKnownAtOnce)
            {
                tellDeath();
                // Before the next one comes.
                poll();
                takeRequest(listener);
            }
            interleaver.run("second");
            if (isConnecting)
            {
                connect(listener);
            }
            else
            {
                send(interleaver);
            }
        }
        catch (final AssertionError | RdmaException ex)
        {
            wrong.append(ex.getMessage());
        }
        close(interleaver, listener, fabric);
        return wrong.isEmpty() ? null : wrong.toString();
    }

    private SoftFabric open()
    {
        return SoftFabric.open(new SoftFabricOptions().directory(directory).rnrTimeoutNs(PATIENCE_NS)
            .fenceTimeoutNs(PATIENCE_NS / 100));
    }

    private boolean post()
    {
        final boolean isPosted = datagrams.postReceive(
            posted, target.address(posted * 64L), 64, target.key()) == 0;
        posted += isPosted ? 1 : 0;
        return isPosted;
    }

    private void tellDeath()
    {
        if (isDead)
        {
            ((SoftDevice)target.device).host().peers().ownerDied(senders.get(0).ownerId());
        }
    }

    private void send(final Interleaver interleaver)
    {
        poll();
        poll();
        if (!arrived.contains(1))
        {
            wrong.append("held up by a stopped sender; ");
        }
        tellDeath();
        for (int i = 0; i < MANY; i++)
        {
            post();
            senders.get(1).send();
            poll();
        }
        if (served < MANY)
        {
            wrong.append("a stopped sender holds up others, served: ").append(served).append("; ");
        }
        if (!isDead)
        {
            goOn(interleaver);
            return;
        }
        // One message always waits, so that the queue pair is never quiet.
        senders.get(1).send();
        for (int i = 0; i < POLLS; i++)
        {
            post();
            senders.get(1).send();
            poll();
        }
        if (((SoftDevice)target.device).hasClaimOf(senders.get(0).visitor))
        {
            wrong.append("held by the dead while others send; ");
        }
        final int open = posted - completed;
        int room = 0;
        while (room < 2 * CAPACITY && post())
        {
            room++;
        }
        if (open + room != CAPACITY)
        {
            wrong.append("receives lost: open=").append(open).append(", room=").append(room).append("; ");
        }
    }

    /** The one that was stopped comes to its end as well. */
    private void goOn(final Interleaver interleaver)
    {
        interleaver.thaw();
        interleaver.run("first");
        for (int i = 0; i < POLLS; i++)
        {
            poll();
        }
        if (!arrived.contains(0))
        {
            wrong.append("a message was lost; ");
        }
    }

    private void poll()
    {
        if (target.completions.poll(batch) == 0)
        {
            return;
        }
        completed++;
        if (batch.status(0) == WorkCompletionStatus.SUCCESS)
        {
            served++;
            arrived.add((int)target.getLong((int)(batch.wrId(0) * 64 + VALUE_OFFSET)));
        }
    }

    private void connect(final ConnectionListener listener)
    {
        if (isDead)
        {
            tellDeath();
            ((SoftDevice)target.device).host().peers().tidy();
            senders.add(new Sender().attach());
            final int dead = senders.get(0).visitor;
            if (senders.get(2).visitor == dead && ((SoftConnectionListener)listener).hasClaimOf(dead))
            {
                wrong.append("two visitors have the number ").append(dead).append("; ");
            }
            senders.get(2).connect();
        }
        for (int i = 0; i < POLLS; i++)
        {
            takeRequest(listener);
        }
        if (!arrived.contains(1) || isDead && !arrived.contains(2))
        {
            wrong.append("a stopped connector holds up others, arrived: ").append(arrived).append("; ");
        }
    }

    private void takeRequest(final ConnectionListener listener)
    {
        final ConnectionRequest request = listener.poll();
        if (request != null)
        {
            arrived.add(ByteBuffer.wrap(request.privateData()).getInt());
            request.reject(new byte[0]);
        }
    }

    private void close(final Interleaver interleaver, final ConnectionListener listener, final SoftFabric fabric)
    {
        try
        {
            interleaver.thaw();
            interleaver.end();
            listener.close();
            datagrams.close();
            target.close();
            target.device.close();
            senders.forEach(Sender::close);
            fabric.close();
        }
        catch (final InterruptedException ex)
        {
            throw new AssertionError(ex);
        }
        catch (final RdmaException | IllegalStateException ex)
        {
            // A twin may leave anything behind.
            wrong.append(ex.getMessage());
        }
    }
}
