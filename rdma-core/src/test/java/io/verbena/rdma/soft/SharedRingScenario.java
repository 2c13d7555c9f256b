package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Three senders, each a process of its own as far as the protocol goes, send to queue pairs that share receives; one
 * thread posts these, another one polls. By the seed one of the senders is stopped or killed at some step. Loaded by
 * {@link SteppedLoader}. Result: what is wrong, or null.
 */
public final class SharedRingScenario implements BiFunction<Long, Path, String>
{
    private static final int SENDERS = 3;
    private static final int MESSAGES = 5;
    private static final int DEPTH = 2;
    /** Of the three fates of a sender: to be left alone, to be stopped, to be killed. */
    private static final int KILLED = 2;
    private static final long FENCE_TIMEOUT_NS = 500_000_000L;
    private static final long PATIENCE_NS = 60_000_000_000L;

    private final WorkCompletions batch = new WorkCompletions(4);
    private final List<Sender> senders = new ArrayList<>();
    private final Set<Long> completed = new HashSet<>();
    private final StringBuilder wrong = new StringBuilder();
    private Endpoint target;
    private SharedReceiveQueue shared;
    private volatile boolean isStopping;
    private volatile int posted;
    private volatile int polls;
    private volatile int deadOwner;
    private boolean isDeathKnown;
    private int flushed;

    /** One requester and what came of its messages. */
    private final class Sender
    {
        private final SoftFabric fabric;
        private final Endpoint endpoint;
        private final QueuePair responder;
        private final WorkCompletions batch = new WorkCompletions(4);
        private volatile int acknowledged;
        private volatile int received;

        Sender(final SoftFabric fabric, final Endpoint endpoint, final QueuePair responder)
        {
            this.fabric = fabric;
            this.endpoint = endpoint;
            this.responder = responder;
        }

        private void send()
        {
            for (int i = 0; i < MESSAGES; i++)
            {
                endpoint.putLong(0, value(i));
                endpoint.queuePair.begin();
                endpoint.queuePair.send(i, SendFlags.SIGNALED, endpoint.address(0), 8, endpoint.key());
                endpoint.queuePair.complete();
                int count = endpoint.completions.poll(batch);
                while (count == 0 && !isStopping)
                {
                    Interleaver.step();
                    count = endpoint.completions.poll(batch);
                }
                if (count == 0 || batch.status(0) != WorkCompletionStatus.SUCCESS)
                {
                    return;
                }
                acknowledged++;
            }
        }

        private long value(final int message)
        {
            return (long)responder.number() << Integer.SIZE | message;
        }
    }

    @Override
    public String apply(final Long seed, final Path directory)
    {
        final SoftFabric fabric = open(directory);
        target = new Endpoint(fabric.openDevice("target"));
        shared = target.domain.createSharedReceiveQueue(DEPTH);
        for (int i = 0; i < SENDERS; i++)
        {
            final SoftFabric other = open(directory);
            final Endpoint endpoint = new Endpoint(other.openDevice("sender-" + i));
            final QueuePair responder = target.domain.createQueuePair(new QueuePairOptions()
                .completions(target.completions, target.completions).capabilities(Endpoint.CAPABILITIES)
                .sharedReceiveQueue(shared));
            SoftConnections.connect(endpoint, endpoint.queuePair, target, responder);
            senders.add(new Sender(other, endpoint, responder));
        }
        final Interleaver interleaver = new Interleaver(seed);
        try
        {
            play(interleaver, new Random(~seed));
        }
        catch (final AssertionError ex)
        {
            wrong.append(ex.getMessage());
        }
        try
        {
            close(interleaver, fabric);
        }
        catch (final RdmaException ex)
        {
            // A twin may leave anything behind.
            wrong.append(ex.getMessage());
        }
        return wrong.isEmpty() ? null : wrong.toString();
    }

    private static SoftFabric open(final Path directory)
    {
        return SoftFabric.open(new SoftFabricOptions().directory(directory).rnrTimeoutNs(PATIENCE_NS)
            .fenceTimeoutNs(FENCE_TIMEOUT_NS));
    }

    private void play(final Interleaver interleaver, final Random random)
    {
        for (int i = 0; i < SENDERS; i++)
        {
            interleaver.add("sender-" + i, senders.get(i)::send);
        }
        interleaver.add("poster", this::post);
        interleaver.add("poller", this::poll);
        final Sender victim = senders.get(0);
        final int fate = random.nextInt(3);
        if (fate > 0)
        {
            interleaver.freezeAfter("sender-0", random.nextInt(250));
        }
        final boolean isKilled = fate == KILLED;
        interleaver.runUntil("the others", () ->
        {
            final boolean isFrozen = interleaver.isFrozen();
            if (isKilled && isFrozen && random.nextInt(4) == 0)
            {
                tellDeath(victim);
            }
            return senders.stream().allMatch(sender -> isServed(sender) || sender == victim && isFrozen);
        });
        if (isKilled && interleaver.isFrozen())
        {
            tellDeath(victim);
            final int rounds = polls + 5;
            interleaver.runUntil("the poller after the death", () -> polls > rounds);
        }
        else
        {
            interleaver.thaw();
            interleaver.runUntil("everybody", () -> senders.stream().allMatch(this::isServed));
        }
        isStopping = true;
        interleaver.runUntil("the end", () -> interleaver.isFinished("poster") && interleaver.isFinished("poller"));
        checkRoom();
    }

    private void tellDeath(final Sender victim)
    {
        if (deadOwner == 0)
        {
            deadOwner = ((SoftDevice)victim.endpoint.device).host().file().ownerId();
        }
    }

    private boolean isServed(final Sender sender)
    {
        return sender.acknowledged == MESSAGES && sender.received == MESSAGES;
    }

    private void post()
    {
        while (!isStopping)
        {
            Interleaver.step();
            if (shared.postReceive(posted, target.address(posted * 8L % Endpoint.REGION_BYTES), 8, target.key()) == 0)
            {
                posted++;
            }
        }
    }

    private void poll()
    {
        while (!isStopping)
        {
            Interleaver.step();
            if (deadOwner != 0 && !isDeathKnown)
            {
                ((SoftDevice)target.device).host().peers().ownerDied(deadOwner);
                isDeathKnown = true;
            }
            final int count = target.completions.poll(batch);
            for (int i = 0; i < count; i++)
            {
                received(batch.wrId(i), batch.status(i), batch.queuePairNumber(i));
            }
            polls++;
        }
    }

    private void received(final long wrId, final int status, final int queuePair)
    {
        if (!completed.add(wrId))
        {
            wrong.append("receive completed twice: ").append(wrId).append("; ");
        }
        final Sender sender =
            senders.stream().filter(each -> each.responder.number() == queuePair).findFirst().orElseThrow();
        if (status != WorkCompletionStatus.SUCCESS)
        {
            flushed++;
            if (status != WorkCompletionStatus.WR_FLUSH_ERR || sender != senders.get(0) || flushed > 1)
            {
                wrong.append("status ").append(status).append(" of receive ").append(wrId).append("; ");
            }
            return;
        }
        final long value = target.getLong(wrId * 8 % Endpoint.REGION_BYTES);
        if (value != sender.value(sender.received))
        {
            wrong.append("receive ").append(wrId).append(" has 0x").append(Long.toHexString(value)).append("; ");
        }
        sender.received++;
    }

    /** Every receive is posted still, or has completed: so there is room for exactly as many more. */
    private void checkRoom()
    {
        final int open = posted - completed.size();
        int more = 0;
        while (more <= DEPTH && shared.postReceive(1_000_000 + more, target.address(0), 8, target.key()) == 0)
        {
            more++;
        }
        if (open + more != DEPTH)
        {
            wrong.append("receives lost: open=").append(open).append(", room=").append(more).append("; ");
        }
    }

    private void close(final Interleaver interleaver, final SoftFabric fabric)
    {
        isStopping = true;
        try
        {
            interleaver.end();
        }
        catch (final InterruptedException ex)
        {
            throw new AssertionError(ex);
        }
        senders.forEach(sender -> sender.responder.close());
        shared.close();
        target.close();
        target.device.close();
        for (final Sender sender : senders)
        {
            sender.endpoint.close();
            sender.endpoint.device.close();
            sender.fabric.close();
        }
        fabric.close();
    }
}
