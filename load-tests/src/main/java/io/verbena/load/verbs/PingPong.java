package io.verbena.load.verbs;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;

/**
 * One side of a ping-pong of 8-byte numbers that count up, by two words on lines of their own that both processes map,
 * and by SEND (inline, every sixteenth one signalled) and receive. Both sides poll and never sleep; one
 * that waits for long lets others of its processor go first, in case the peer is among them. One side asks, the
 * other answers, the same number of times in the same turns. Used by one thread. Closed by its creator.
 */
final class PingPong implements AutoCloseable
{
    /** Of the file with the two lines; two lines lie between, which are fetched in pairs. */
    static final int FILE_BYTES = 4096;
    private static final int ANSWER_OFFSET = 256;
    private static final int SLOT_BYTES = 64;
    private static final int DEPTH = 32;
    private static final int SIGNAL_EVERY = 16;
    /** Some 100 us, far beyond a round trip of two sides that both run. */
    private static final int SPINS_BETWEEN_YIELDS = 1 << 12;
    private static final int SPINS_BETWEEN_LOOKS = 1 << 20;
    /** Some minutes. */
    private static final long MOST_SPINS = 1L << 32;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final WorkCompletions completions = new WorkCompletions(1);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment lines;
    private final ProtectionDomain domain;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final MemoryRegion region;
    private final MemorySegment segment;
    private final QueuePair queuePair;
    private final BooleanSupplier isPeerAlive;
    private long bareNumber;
    private long sentCount;
    private long receivedCount;

    /**
     * @param device      of this side; not owned.
     * @param linesFile   {@value #FILE_BYTES} long, of zeros.
     * @param isPeerAlive asked now and then while waiting.
     */
    PingPong(final Device device, final Path linesFile, final BooleanSupplier isPeerAlive)
    {
        this.isPeerAlive = isPeerAlive;
        lines = map(linesFile, arena);
        domain = device.allocateProtectionDomain();
        sends = device.createCompletionQueue(2 * DEPTH);
        receives = device.createCompletionQueue(2 * DEPTH);
        region = domain.allocateRegistered((DEPTH + 1) * SLOT_BYTES, AccessFlags.ALL_REMOTE);
        segment = region.segment();
        queuePair = domain.createQueuePair(
            sends, receives, new QueuePairCapabilities(DEPTH, DEPTH, Long.BYTES, 1));
    }

    /** @return to be connected. */
    QueuePair queuePair()
    {
        return queuePair;
    }

    /** Posts all receives; between INIT and the first message of the peer. */
    void postReceives()
    {
        for (int slot = 0; slot < DEPTH; slot++)
        {
            postReceive(slot);
        }
    }

    long bareAsk(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            WORD.setRelease(lines, 0L, ++bareNumber);
            awaitWord(ANSWER_OFFSET);
        }
        return bareNumber;
    }

    void bareAnswer(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            bareNumber++;
            awaitWord(0);
            WORD.setRelease(lines, (long)ANSWER_OFFSET, bareNumber);
        }
    }

    long ask(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            send();
            receive();
        }
        return receivedCount;
    }

    void answer(final int count)
    {
        for (int i = 0; i < count; i++)
        {
            receive();
            send();
        }
    }

    private void awaitWord(final long offset)
    {
        long spins = 0;
        while ((long)WORD.getAcquire(lines, offset) != bareNumber)
        {
            spin(++spins);
        }
    }

    private void send()
    {
        segment.set(ValueLayout.JAVA_LONG, (long)DEPTH * SLOT_BYTES, ++sentCount);
        final boolean isSignalled = sentCount % SIGNAL_EVERY == 0;
        queuePair.begin();
        queuePair.send(sentCount, SendFlags.INLINE | (isSignalled ? SendFlags.SIGNALED : 0),
            region.address() + DEPTH * SLOT_BYTES, Long.BYTES, region.localKey());
        check(queuePair.complete());
        if (isSignalled)
        {
            await(sends);
        }
    }

    private void receive()
    {
        await(receives);
        final int slot = (int)completions.wrId(0);
        if (segment.get(ValueLayout.JAVA_LONG, (long)slot * SLOT_BYTES) != ++receivedCount)
        {
            throw new RdmaException("wrong message: expected=" + receivedCount);
        }
        postReceive(slot);
    }

    private void postReceive(final int slot)
    {
        check(queuePair.postReceive(slot, region.address() + slot * SLOT_BYTES, Long.BYTES, region.localKey()));
    }

    private void await(final CompletionQueue queue)
    {
        long spins = 0;
        while (queue.poll(completions) == 0)
        {
            spin(++spins);
        }
        if (completions.status(0) != WorkCompletionStatus.SUCCESS)
        {
            throw new RdmaException("ping-pong failed: status=" + completions.status(0));
        }
    }

    private void spin(final long spins)
    {
        Thread.onSpinWait();
        if (spins % SPINS_BETWEEN_YIELDS == 0)
        {
            Thread.yield();
        }
        if (spins % SPINS_BETWEEN_LOOKS == 0 && (spins >= MOST_SPINS || !isPeerAlive.getAsBoolean()))
        {
            throw new RdmaException("the other process of the ping-pong does not answer");
        }
    }

    private static void check(final int status)
    {
        if (status != PostStatus.OK)
        {
            throw new RdmaException("cannot post: status=" + status);
        }
    }

    static MemorySegment map(final Path file, final Arena arena)
    {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE))
        {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES, arena);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException("cannot map " + file, ex);
        }
    }

    @Override
    public void close()
    {
        queuePair.close();
        region.close();
        sends.close();
        receives.close();
        domain.close();
        arena.close();
    }
}
