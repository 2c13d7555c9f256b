package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
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
 * Two senders, each a process of its own as far as the protocol goes, send to queue pairs whose receives complete in
 * their slots; one thread posts these and polls. By the seed the first sender is stopped or killed at some step, and
 * the completion queue becomes too small for completions in slots. In the end the first queue pair fails. Loaded by
 * {@link SteppedLoader}. Result: what is wrong, or null.
 */
public final class DirectRingScenario implements BiFunction<Long, Path, String>
{
    private static final int SENDERS = 2;
    private static final int MESSAGES = 5;
    private static final int DEPTH = 2;
    /** As many as two queue pairs can complete at once. */
    private static final int CAPACITY = 64;
    /** Of the three fates of the first sender: to be left alone, to be stopped, to be killed. */
    private static final int KILLED = 2;
    private static final int FEW_POLLS = 6;
    private static final long PATIENCE_NS = 60_000_000_000L;

    private final WorkCompletions batch = new WorkCompletions(2);
    private final List<Sender> senders = new ArrayList<>();
    private final Set<Long> completed = new HashSet<>();
    private final StringBuilder wrong = new StringBuilder();
    private Endpoint target;
    private CompletionQueue queue;
    private QueuePair more;
    private boolean isDeathKnown;
    private boolean hasFailed;
    private volatile boolean isStopping;
    private volatile boolean isDemoting;
    private volatile boolean isFailing;
    private volatile int polls;
    private volatile int deadOwner;

    /** One requester, its responder, and what came of its messages. */
    private final class Sender
    {
        private final int index;
        private final SoftFabric fabric;
        private final Endpoint endpoint;
        private final QueuePair responder;
        private final WorkCompletions batch = new WorkCompletions(4);
        private volatile int acknowledged;
        private volatile int received;
        private volatile int posted;
        private volatile int finished;

        Sender(final int index, final SoftFabric fabric, final Endpoint endpoint, final QueuePair responder)
        {
            this.index = index;
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
            return (long)(index + 1) << Integer.SIZE | message;
        }

        private long offset(final int receive)
        {
            return (index * 1024L + receive) * 8;
        }

        private void post()
        {
            if (posted - finished < DEPTH && responder.postReceive(
                (long)index << Integer.SIZE | posted, target.address(offset(posted)), 8, target.key()) == 0)
            {
                posted++;
            }
        }
    }

    @Override
    public String apply(final Long seed, final Path directory)
    {
        final SoftFabric fabric = open(directory);
        target = new Endpoint(fabric.openDevice("target"));
        queue = target.device.createCompletionQueue(CAPACITY);
        for (int i = 0; i < SENDERS; i++)
        {
            final SoftFabric other = open(directory);
            final Endpoint endpoint = new Endpoint(other.openDevice("sender-" + i));
            final QueuePair responder = target.domain.createQueuePair(queue, queue, Endpoint.CAPABILITIES);
            SoftConnections.connect(endpoint, endpoint.queuePair, target, responder);
            senders.add(new Sender(i, other, endpoint, responder));
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
        catch (final RdmaException | IllegalStateException ex)
        {
            // A twin may leave anything behind.
            wrong.append(ex.getMessage());
        }
        return wrong.isEmpty() ? null : wrong.toString();
    }

    private static SoftFabric open(final Path directory)
    {
        return SoftFabric.open(new SoftFabricOptions().directory(directory).rnrTimeoutNs(PATIENCE_NS)
            .fenceTimeoutNs(PATIENCE_NS / 100));
    }

    private void play(final Interleaver interleaver, final Random random)
    {
        final Sender victim = senders.get(0);
        final Sender other = senders.get(1);
        interleaver.add("sender-0", victim::send);
        interleaver.add("sender-1", other::send);
        interleaver.add("owner", this::own);
        final int fate = random.nextInt(KILLED + 1);
        final boolean isKilled = fate == KILLED;
        final boolean isDemoted = random.nextBoolean();
        if (fate > 0)
        {
            interleaver.freezeAfter("sender-0", random.nextInt(250));
        }
        interleaver.runUntil("the other", () ->
        {
            isDemoting |= isDemoted && random.nextInt(8) == 0;
            if (isKilled && interleaver.isFrozen() && random.nextInt(4) == 0)
            {
                tellDeath(victim);
            }
            return isServed(other) && (interleaver.isFrozen() || isServed(victim));
        });
        if (isKilled && interleaver.isFrozen())
        {
            tellDeath(victim);
        }
        isFailing = true;
        runPolls(interleaver);
        if (!isKilled)
        {
            interleaver.thaw();
            interleaver.runUntil("the first", () -> interleaver.isFinished("sender-0"));
            runPolls(interleaver);
        }
        isStopping = true;
        interleaver.runUntil("the end", () -> interleaver.isFinished("owner"));
        if (victim.finished != victim.posted)
        {
            wrong.append("receives lost: ").append(victim.posted - victim.finished).append("; ");
        }
        if (victim.received < victim.acknowledged)
        {
            wrong.append("messages lost: ").append(victim.acknowledged - victim.received).append("; ");
        }
    }

    private void runPolls(final Interleaver interleaver)
    {
        final int rounds = polls + FEW_POLLS;
        interleaver.runUntil("the owner's polls", () -> polls > rounds);
    }

    private void tellDeath(final Sender victim)
    {
        if (deadOwner == 0)
        {
            deadOwner = ((SoftDevice)victim.endpoint.device).host().file().ownerId();
        }
    }

    private static boolean isServed(final Sender sender)
    {
        return sender.acknowledged == MESSAGES && sender.received == MESSAGES;
    }

    private void own()
    {
        while (!isStopping)
        {
            Interleaver.step();
            if (deadOwner != 0 && !isDeathKnown)
            {
                ((SoftDevice)target.device).host().peers().ownerDied(deadOwner);
                isDeathKnown = true;
            }
            if (isDemoting && more == null)
            {
                more = target.domain.createQueuePair(queue, queue, Endpoint.CAPABILITIES);
            }
            if (isFailing && !hasFailed)
            {
                hasFailed = true;
                ((SoftQueuePair)senders.get(0).responder).moveToError();
            }
            senders.stream().filter(sender -> sender.index > 0 || !hasFailed).forEach(Sender::post);
            final int count = queue.poll(batch);
            for (int i = 0; i < count; i++)
            {
                received(batch.wrId(i), batch.status(i), batch.queuePairNumber(i));
            }
            polls++;
        }
    }

    private void received(final long wrId, final int status, final int queuePair)
    {
        final Sender sender = senders.get((int)(wrId >>> Integer.SIZE));
        if (!completed.add(wrId) || sender.finished != (int)wrId || sender.responder.number() != queuePair)
        {
            wrong.append("not the turn of receive ").append(wrId).append("; ");
        }
        sender.finished++;
        if (status != WorkCompletionStatus.SUCCESS)
        {
            if (status != WorkCompletionStatus.WR_FLUSH_ERR || sender.index > 0 || !hasFailed)
            {
                wrong.append("status ").append(status).append(" of receive ").append(wrId).append("; ");
            }
            return;
        }
        final long value = target.getLong(sender.offset((int)wrId));
        if (value != sender.value(sender.received) || sender.received != (int)wrId)
        {
            wrong.append("receive ").append(wrId).append(" has 0x").append(Long.toHexString(value)).append("; ");
        }
        sender.received++;
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
        if (more != null)
        {
            more.close();
        }
        queue.close();
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
