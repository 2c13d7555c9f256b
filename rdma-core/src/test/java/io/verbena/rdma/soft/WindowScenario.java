package io.verbena.rdma.soft;

import io.verbena.rdma.soft.shared.DeviceFileDescriptor;
import io.verbena.rdma.soft.shared.KeyEntryDescriptor;
import io.verbena.rdma.soft.shared.SharedWords;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Endpoint;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.MemoryWindow;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * An owner binds a window to one part of its region after another, under two keys in turn, through either of two
 * queue pairs, and invalidates it each time; two requesters, each a process of its own as far as the protocol goes,
 * WRITE through it meanwhile, now and then where it was bound before or through the wrong queue pair. One of them
 * stands still for a while at some step; with even seeds it is the wrong one, until a key that it has found is bound to
 * its own queue pair. Outside of what is bound nothing may change. Loaded by {@link SteppedLoader}. Result: what is
 * wrong, or null.
 */
public final class WindowScenario implements BiFunction<Long, Path, String>
{
    private static final int ROUNDS = 6;
    private static final int WRITES = 40;
    private static final int MISTAKES_ONE_IN = 8;
    private static final int REGION_BYTES = 1024;
    private static final int WINDOW_BYTES = 64;
    private static final int PATIENCE_POLLS = 40;
    private static final long FENCE_TIMEOUT_NS = 60_000_000_000L;

    private final WorkCompletions batch = new WorkCompletions(1);
    private final Requester[] requesters = new Requester[2];
    private final StringBuilder wrong = new StringBuilder();
    private Endpoint owner;
    private MemoryRegion region;
    private MemoryWindow window;
    /** Rounds in a row that bind through one queue pair, and which is the first. */
    private int turn;
    private int first;
    private int baseKey;
    /** What requesters have been told of: a round, or -1. */
    private volatile int bound = -1;
    private volatile int round;
    private volatile int polls;

    /** One that writes. */
    private final class Requester
    {
        private final SoftFabric fabric;
        private final Endpoint endpoint;
        private final QueuePair responder;
        private final WorkCompletions batch = new WorkCompletions(1);
        private final Random random;

        Requester(final Path directory, final String name, final long seed)
        {
            random = new Random(seed);
            fabric = open(directory);
            endpoint = new Endpoint(fabric.openDevice(name));
            responder = owner.domain.createQueuePair(owner.completions, owner.completions, Endpoint.CAPABILITIES);
            SoftConnections.connect(endpoint, endpoint.queuePair, owner, responder);
        }

        private void write()
        {
            for (int i = 0; i < WRITES && endpoint.queuePair.state() == QueuePairState.RTS; i++)
            {
                Interleaver.step();
                final int told = bound;
                final boolean isMistake = random.nextInt(MISTAKES_ONE_IN) == 0;
                if (told >= 0 && (through(told) == this || isMistake))
                {
                    write(random.nextInt(MISTAKES_ONE_IN) == 0 ? told & 1 : told, key(told));
                }
            }
        }

        private void write(final int place, final int key)
        {
            endpoint.putLong(0, -1);
            endpoint.queuePair.begin();
            endpoint.queuePair.write(
                1, SendFlags.SIGNALED, endpoint.address(0), 8, endpoint.key(),
                region.address() + place * WINDOW_BYTES, key);
            endpoint.queuePair.complete();
            endpoint.completions.poll(batch);
        }

        private void close()
        {
            responder.close();
            endpoint.close();
            endpoint.device.close();
            fabric.close();
        }
    }

    @Override
    public String apply(final Long seed, final Path directory)
    {
        final SoftFabric fabric = open(directory);
        owner = new Endpoint(fabric.openDevice("owner"));
        region = owner.domain.allocateRegistered(REGION_BYTES, AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND);
        window = owner.domain.allocateMemoryWindow();
        requesters[0] = new Requester(directory, "peer", seed);
        requesters[1] = new Requester(directory, "other", ~seed);
        baseKey = window.remoteKey() + 1;
        final Interleaver interleaver = new Interleaver(seed);
        try
        {
            interleaver.add("owner", this::own);
            if ((seed & 1) == 0)
            {
                playLookingTooEarly(interleaver, new Random(~seed));
            }
            else
            {
                play(interleaver, new Random(~seed));
            }
            interleaver.runUntil("the end", () -> interleaver.isFinished("owner"));
            interleaver.end();
        }
        catch (final AssertionError | InterruptedException ex)
        {
            wrong.append(ex.getMessage());
        }
        try
        {
            List.of(requesters).forEach(Requester::close);
            window.close();
            region.close();
            owner.close();
            owner.device.close();
            fabric.close();
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
        return SoftFabric.open(
            new SoftFabricOptions().directory(directory).fenceTimeoutNs(FENCE_TIMEOUT_NS));
    }

    private int key(final int ofRound)
    {
        return baseKey & ~0xFF | baseKey + (ofRound & 1) & 0xFF;
    }

    private Requester through(final int ofRound)
    {
        return requesters[first + ofRound / turn & 1];
    }

    private void play(final Interleaver interleaver, final Random random)
    {
        turn = 1 + random.nextInt(3);
        first = random.nextInt(2);
        interleaver.add("peer", requesters[0]::write);
        interleaver.add("other", requesters[1]::write);
        final int until = 1 + random.nextInt(ROUNDS - 1);
        final String victim = random.nextBoolean() ? "peer" : "other";
        interleaver.freezeAfter(victim, random.nextInt(120));
        interleaver.runUntil("the owner goes on or waits", () ->
            interleaver.isFinished("owner") || interleaver.isFrozen() && (round >= until || polls > PATIENCE_POLLS));
        interleaver.thaw();
        interleaver.freezeAfter(victim, Integer.MAX_VALUE);
    }

    private void playLookingTooEarly(final Interleaver interleaver, final Random random)
    {
        turn = 2;
        interleaver.runUntil("bound", () -> bound == 0);
        final String victim = "other";
        // Where the binding before it was, or this one.
        final int place = turn - random.nextInt(2);
        interleaver.add(victim, () -> requesters[1].write(place, key(0)));
        // Somewhere before it reads the entry, or while it does.
        interleaver.freezeAfter(victim, 8 + random.nextInt(20));
        final long binding = ((SoftDevice)owner.device).host().file().base() + DeviceFileDescriptor.KEYS_OFFSET +
            (long)(baseKey >>> 16) * KeyEntryDescriptor.LENGTH + KeyEntryDescriptor.BINDING_OFFSET;
        interleaver.runUntil("the same key is being bound to the other queue pair", () ->
            interleaver.isFinished("owner") || interleaver.isFinished(victim) || SharedWords.getLong(binding) > 2);
        interleaver.thaw();
        interleaver.freezeAfter(victim, Integer.MAX_VALUE);
    }

    /** Ends early when a WRITE was refused, because the queue pair is of no use then. */
    private void own()
    {
        for (; round < ROUNDS; round++)
        {
            final QueuePair queuePair = through(round).responder;
            final int key = key(round);
            final int offset = round * WINDOW_BYTES;
            fill(round);
            pause();
            check(-1);
            queuePair.begin();
            queuePair.bindMemoryWindow(
                1, SendFlags.SIGNALED, window, key, region, region.address() + offset, WINDOW_BYTES,
                AccessFlags.REMOTE_WRITE);
            if (queuePair.complete() != 0 || awaitStatus() != WorkCompletionStatus.SUCCESS)
            {
                return;
            }
            bound = round;
            pause();
            queuePair.begin();
            queuePair.localInvalidate(2, SendFlags.SIGNALED, key);
            if (queuePair.complete() != 0 || awaitStatus() != WorkCompletionStatus.SUCCESS)
            {
                return;
            }
            check(offset);
        }
        fill(round);
        pause();
        check(-1);
    }

    private int awaitStatus()
    {
        polls = 0;
        while (owner.completions.poll(batch) == 0)
        {
            polls++;
            Interleaver.step();
        }
        polls = 0;
        return batch.status(0);
    }

    private static void pause()
    {
        for (int i = 0; i < 20; i++)
        {
            Interleaver.step();
        }
    }

    private void fill(final int value)
    {
        for (int offset = 0; offset < REGION_BYTES; offset += Long.BYTES)
        {
            region.segment().set(JAVA_LONG, offset, value);
        }
    }

    private void check(final int boundOffset)
    {
        for (int offset = 0; offset < REGION_BYTES; offset += Long.BYTES)
        {
            final boolean isBound = boundOffset >= 0 && offset >= boundOffset && offset < boundOffset + WINDOW_BYTES;
            if (!isBound && region.segment().get(JAVA_LONG, offset) != round)
            {
                wrong.append("round ").append(round).append(": landed at ").append(offset).append(", bound ")
                    .append(boundOffset).append("; ");
            }
        }
    }
}
