package io.verbena.table;

import io.verbena.rdma.sim.device.SimDevice;
import io.verbena.rdma.sim.explore.SimActor;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.table.access.EmptiedWords;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Takes back the chunk of an ended engine, one verb after the other, at a moment that the exploration chooses: cuts it
 * off, READs the slots, kills its tentative words, and writes over whatever of the chunk no word names, as its next
 * owner would. Reversed, it cuts off last.
 */
final class ReaperActor implements SimActor
{
    private static final long TIMER_NS = 500_000_000L;
    private static final int RESULTS_AT = BucketDescriptor.GROUP_BYTES;
    private static final int GARBAGE_AT = 1024;
    private static final byte GARBAGE = 0x5A;

    private enum Step
    {
        WAITING, READING, KILLING, SETTLING, WRITING, DONE
    }

    /** No engine's. */
    private static final int WRITER_NUMBER = 99;

    private final SimDevice device;
    private final SimQueuePairPort port;
    private final MemoryRegion scratch;
    private final UnsafeBuffer buffer;
    private final Runnable fence;
    private final boolean fencesFirst;
    private final BooleanSupplier haveOthersEnded;
    private final int groupAt;
    private final int chunkAt;
    private final int chunkBytes;
    private final List<Long> killedSlots = new ArrayList<>();
    private final boolean[] named;
    private final EmptiedWords emptiedWords = new EmptiedWords(WRITER_NUMBER);
    private Step step = Step.WAITING;
    private long seen = 1;

    ReaperActor(
        final SimDevice device,
        final ProtectionDomain domain,
        final SimQueuePairPort port,
        final Runnable fence,
        final boolean fencesFirst,
        final BooleanSupplier haveOthersEnded,
        final int groupAt,
        final int chunkAt,
        final int chunkBytes)
    {
        this.device = device;
        this.port = port;
        this.fence = fence;
        this.fencesFirst = fencesFirst;
        this.haveOthersEnded = haveOthersEnded;
        this.groupAt = groupAt;
        this.chunkAt = chunkAt;
        this.chunkBytes = chunkBytes;
        named = new boolean[chunkBytes / SlotWord.BLOCK_ALIGNMENT_BYTES];
        scratch = domain.allocateRegistered(GARBAGE_AT + chunkBytes, AccessFlags.LOCAL_WRITE);
        buffer = new UnsafeBuffer(scratch.segment().address(), GARBAGE_AT + chunkBytes);
        buffer.setMemory(GARBAGE_AT, chunkBytes, GARBAGE);
    }

    @Override
    public int doWork()
    {
        final int completions = port.poll(this::onComplete);
        if (step == Step.WAITING && device.clock().nanoTime() > TIMER_NS)
        {
            if (fencesFirst)
            {
                fence.run();
            }
            step = Step.READING;
            port.begin();
            port.read(scratch, 0, BucketDescriptor.GROUP_BYTES, groupAt);
            port.complete(0);
            return 1;
        }
        if (step == Step.SETTLING && haveOthersEnded.getAsBoolean())
        {
            writeOver();
            return 1;
        }
        return completions;
    }

    private void onComplete(final int cookie, final int status)
    {
        if (status != WorkCompletionStatus.SUCCESS)
        {
            throw new AssertionError("the reaper's request failed: " + status);
        }
        switch (step)
        {
            case READING ->
            {
                look();
                step = killedSlots.isEmpty() ? Step.SETTLING : Step.KILLING;
                kill();
            }
            case KILLING -> step = Step.SETTLING;
            default -> end();
        }
    }

    private void look()
    {
        for (int i = 0; i < BucketDescriptor.SLOTS_PER_GROUP; i++)
        {
            final int at = slotAt(i);
            final long word = buffer.getLong(at, LITTLE_ENDIAN);
            seen = seen * 31 + word;
            final int offset = (int)SlotWord.blockOffset(word) - chunkAt;
            if (SlotWord.isEmpty(word) || offset < 0 || offset >= chunkBytes)
            {
                continue;
            }
            if (SlotWord.isTentative(word))
            {
                killedSlots.add((long)at);
                continue;
            }
            final int granules = SizeClasses.lengthBytes(SlotWord.sizeClass(word)) / SlotWord.BLOCK_ALIGNMENT_BYTES;
            for (int granule = 0; granule < granules; granule++)
            {
                named[offset / SlotWord.BLOCK_ALIGNMENT_BYTES + granule] = true;
            }
        }
    }

    private static int slotAt(final int slot)
    {
        return slot / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + slot % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    private void kill()
    {
        if (killedSlots.isEmpty())
        {
            return;
        }
        port.begin();
        for (final long at : killedSlots)
        {
            port.compareSwap(
                scratch, RESULTS_AT, groupAt + at, buffer.getLong((int)at, LITTLE_ENDIAN), emptiedWords.getAsLong());
        }
        port.complete(0);
    }

    /** What is free in the first two blocks is what the ended engine can have had in its hands. */
    private void writeOver()
    {
        step = Step.WRITING;
        final int unit = SlotWord.BLOCK_ALIGNMENT_BYTES;
        boolean writes = false;
        for (int first = 0; first < named.length; first++)
        {
            int end = first;
            while (end < named.length && !named[end])
            {
                end++;
            }
            if (end > first)
            {
                if (!writes)
                {
                    port.begin();
                }
                writes = true;
                port.write(scratch, GARBAGE_AT, (end - first) * unit, chunkAt + (long)first * unit);
                first = end;
            }
        }
        if (writes)
        {
            port.complete(0);
        }
        else
        {
            end();
        }
    }

    private void end()
    {
        if (!fencesFirst)
        {
            fence.run();
        }
        step = Step.DONE;
    }

    @Override
    public boolean isDone()
    {
        return step == Step.DONE;
    }

    @Override
    public long stateHash()
    {
        return (seen * 31 + step.ordinal()) * 2 + 1;
    }

    @Override
    public String roleName()
    {
        return "reaper";
    }
}
