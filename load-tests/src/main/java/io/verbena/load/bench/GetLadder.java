package io.verbena.load.bench;

import io.verbena.raas.RemoteRegion;
import io.verbena.raas.VirtualQp;
import io.verbena.rdma.memory.PrivatePages;
import io.verbena.rdma.spi.RawMemory;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.format.BlockDescriptor;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.KeyHash;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.TableDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import net.openhft.hashing.LongTupleHashFunction;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where the time of a cached GET goes: gets the records of a table without an engine, each rung with more of what the
 * engine does than the one before. All rungs find a record by a hash of its key in a table of 64-byte entries that is
 * as large as the engine's location cache, and lies in pages like its. With a group of one each record waits for the
 * value of the one before; in a larger group all are found first, then all fetched, then all checked. Single thread.
 */
final class GetLadder implements AutoCloseable
{
    /** What a rung does to fetch a block and its slot word. */
    enum Rung
    {
        /** Nothing: finds the location only. */
        LOCATIONS,
        /** Loads a word of each line, and checks nothing. */
        LOADS,
        /** Copies both, then checks the word, the checksum and the key, and copies the value out: so do all others. */
        COPIES,
        /** Two READs of a queue pair, polled from its completion queue. */
        VERBS,
        /** Two READs of a virtual queue pair, reported by its listener. */
        VIRTUAL_QP
    }

    private static final int ENTRY_BYTES = 64;
    private static final int LINE_BYTES = 64;
    private static final int HIGH = 8;
    private static final int SLOT = 16;
    private static final int WORD = 24;
    private static final int MOST = 16;
    /** Of a place that one record is read to: its block, and behind it the slot word. */
    private static final int PLACE_BYTES = 1024;
    private static final int SLOT_AT = 512;
    /** Never anything but 0, which the compiler does not know. */
    private static volatile long zero;

    private final Arena arena = Arena.ofShared();
    private final KeyHash hash = new KeyHash();
    private final LongTupleHashFunction hashFunction = KeyHash.function(0x5EED);
    private final MemorySegment keys = arena.allocate((long)MOST * BenchmarkRecords.KEY_BYTES, LINE_BYTES);
    private final MemorySegment value = arena.allocate(BenchmarkRecords.VALUE_BYTES, LINE_BYTES);
    private final UnsafeBuffer places;
    private final long[] entries = new long[MOST];
    private final WorkCompletions completions = new WorkCompletions(MOST);
    private final EngineRig rig;
    private final NanoClock clock;
    private final long base;
    private final PrivatePages pages;
    private final long entryMask;
    private final MemoryRegion local;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final VirtualQp virtualQp;
    private final RemoteRegion remote;
    private int answered;

    /** Finds every record, whose blocks stay where they are as long as this is used. */
    GetLadder(final EngineRig rig, final OpenTable table, final int records, final NanoClock clock)
    {
        this.rig = rig;
        this.clock = clock;
        base = rig.memory().address();
        entryMask = Long.highestOneBit(records * 4L - 1) - 1;
        pages = PrivatePages.map((entryMask + 1) * ENTRY_BYTES);
        fill(table);
        local = rig.clientDomain().register(
            arena.allocate((long)MOST * PLACE_BYTES, 4096), AccessFlags.LOCAL_WRITE);
        places = new UnsafeBuffer(local.segment().address(), MOST * PLACE_BYTES);
        queue = rig.createCompletionQueue();
        queuePair = rig.connectQueuePair(queue);
        virtualQp = rig.connect((vqp, cookie, status) -> answered++);
        remote = rig.remoteRegion();
    }

    private void fill(final OpenTable table)
    {
        final TableDescriptor descriptor = table.descriptor();
        for (int i = 0; i < descriptor.subtableCount(); i++)
        {
            final long groups = DirectoryEntry.subtableOffset(descriptor.entry(i)) + SubtableDescriptor.GROUPS_OFFSET;
            final long buckets = (long)descriptor.groupCount() * BucketDescriptor.BUCKETS_PER_GROUP;
            for (long bucket = 0; bucket < buckets; bucket++)
            {
                for (int slot = 0; slot < BucketDescriptor.SLOTS_PER_BUCKET; slot++)
                {
                    add(groups + bucket * BucketDescriptor.BUCKET_BYTES + BucketDescriptor.SLOTS_OFFSET +
                        slot * (long)BucketDescriptor.SLOT_BYTES);
                }
            }
        }
    }

    private void add(final long slotOffset)
    {
        final long word = UnsafeApi.getLong(base + slotOffset);
        if (SlotWord.isCommitted(word))
        {
            hash.compute(hashFunction,
                base + SlotWord.blockOffset(word) + BlockDescriptor.KEY_OFFSET, BenchmarkRecords.KEY_BYTES);
            final long entry = entry(0, 0);
            UnsafeApi.putLong(entry, hash.low());
            UnsafeApi.putLong(entry + HIGH, hash.high());
            UnsafeApi.putLong(entry + SLOT, slotOffset);
            UnsafeApi.putLong(entry + WORD, word);
        }
    }

    private long entry(final long low, final long high)
    {
        long entry = preferred();
        while (UnsafeApi.getLong(entry) != low || UnsafeApi.getLong(entry + HIGH) != high)
        {
            entry = pages.address() + (entry - pages.address() + ENTRY_BYTES & entryMask * ENTRY_BYTES);
        }
        return entry;
    }

    private long preferred()
    {
        return pages.address() + (hash.high() * 0x9E3779B97F4A7C15L >>> 32 & entryMask) * ENTRY_BYTES;
    }

    /** Gets records in groups. @return nanoseconds for one. */
    double ns(final Rung rung, final int[] order, final int count, final int group)
    {
        final long mask = zero;
        long seen = 0;
        final long start = clock.nanoTime();
        for (int i = 0; i < count; i += group)
        {
            for (int j = 0; j < group; j++)
            {
                find(j, order[(i + j) % order.length] + (seen & mask));
            }
            seen = get(rung, group);
        }
        final long elapsed = clock.nanoTime() - start;
        zero = seen & mask;
        return (double)elapsed / count;
    }

    private void find(final int place, final long number)
    {
        final long key = (long)place * BenchmarkRecords.KEY_BYTES;
        keys.set(ValueLayout.JAVA_LONG, key, number);
        hash.compute(hashFunction, keys.address() + key, BenchmarkRecords.KEY_BYTES);
        entries[place] = entry(hash.low(), hash.high());
    }

    private long load(final int group)
    {
        long seen = 0;
        for (int j = 0; j < group; j++)
        {
            final long word = UnsafeApi.getLong(entries[j] + WORD);
            final long block = base + SlotWord.blockOffset(word);
            for (int at = SizeClasses.lengthBytes(SlotWord.sizeClass(word)) - LINE_BYTES; at >= 0; at -= LINE_BYTES)
            {
                seen += UnsafeApi.getLong(block + at);
            }
            seen += UnsafeApi.getLong(base + UnsafeApi.getLong(entries[j] + SLOT));
        }
        return seen;
    }

    private long get(final Rung rung, final int group)
    {
        switch (rung)
        {
            case LOCATIONS ->
            {
                return UnsafeApi.getLong(entries[group - 1] + WORD);
            }
            case LOADS ->
            {
                return load(group);
            }
            case COPIES -> copy(group);
            case VERBS -> read(group);
            default -> readVirtually(group);
        }
        long seen = 0;
        for (int j = 0; j < group; j++)
        {
            seen += check(j);
        }
        return seen;
    }

    private void copy(final int group)
    {
        final long target = local.segment().address();
        for (int j = 0; j < group; j++)
        {
            final long word = UnsafeApi.getLong(entries[j] + WORD);
            RawMemory.read(base + SlotWord.blockOffset(word), target + (long)j * PLACE_BYTES,
                SizeClasses.lengthBytes(SlotWord.sizeClass(word)));
            VarHandle.acquireFence();
            RawMemory.read(base + UnsafeApi.getLong(entries[j] + SLOT), target + (long)j * PLACE_BYTES + SLOT_AT,
                Long.BYTES);
            VarHandle.acquireFence();
        }
    }

    private void read(final int group)
    {
        final long target = local.address();
        queuePair.begin();
        for (int j = 0; j < group; j++)
        {
            final long word = UnsafeApi.getLong(entries[j] + WORD);
            queuePair.read(j, 0, target + (long)j * PLACE_BYTES, SizeClasses.lengthBytes(SlotWord.sizeClass(word)),
                local.localKey(), remote.address() + SlotWord.blockOffset(word), remote.remoteKey());
            queuePair.read(j, j == group - 1 ? SendFlags.SIGNALED : 0, target + (long)j * PLACE_BYTES + SLOT_AT,
                Long.BYTES, local.localKey(), remote.address() + UnsafeApi.getLong(entries[j] + SLOT),
                remote.remoteKey());
        }
        queuePair.complete();
        while (queue.poll(completions) == 0)
        {
            Thread.onSpinWait();
        }
    }

    private void readVirtually(final int group)
    {
        final int before = answered;
        virtualQp.begin();
        for (int j = 0; j < group; j++)
        {
            final long word = UnsafeApi.getLong(entries[j] + WORD);
            virtualQp.read(local, (long)j * PLACE_BYTES, SizeClasses.lengthBytes(SlotWord.sizeClass(word)), remote,
                SlotWord.blockOffset(word));
            virtualQp.read(local, (long)j * PLACE_BYTES + SLOT_AT, Long.BYTES, remote,
                UnsafeApi.getLong(entries[j] + SLOT));
        }
        virtualQp.complete(1);
        while (answered == before)
        {
            rig.pollConnections();
        }
    }

    /** @return something of the value, as it was copied out. */
    private long check(final int place)
    {
        final long word = UnsafeApi.getLong(entries[place] + WORD);
        final int block = place * PLACE_BYTES;
        final long at = places.addressOffset() + block + BlockDescriptor.KEY_OFFSET;
        final long key = keys.address() + (long)place * BenchmarkRecords.KEY_BYTES;
        if (places.getLong(block + SLOT_AT) != word ||
            !BlockDescriptor.isValid(places, block, SizeClasses.lengthBytes(SlotWord.sizeClass(word)), word) ||
            UnsafeApi.getLong(at) != UnsafeApi.getLong(key) || UnsafeApi.getLong(at + 8) != UnsafeApi.getLong(key + 8))
        {
            throw new IllegalStateException("a record that nobody changes is not what it was");
        }
        final int length = BlockDescriptor.valueLength(places, block);
        for (int i = 0; i <= length - Integer.BYTES; i += Integer.BYTES)
        {
            value.set(ValueLayout.JAVA_INT, i, UnsafeApi.getInt(at + BenchmarkRecords.KEY_BYTES + i));
        }
        return value.get(ValueLayout.JAVA_LONG, 0);
    }

    @Override
    public void close()
    {
        virtualQp.close();
        queuePair.close();
        queue.close();
        local.close();
        pages.close();
        arena.close();
    }
}
