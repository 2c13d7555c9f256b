package io.verbena.table;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.CheckedStore;
import io.verbena.table.check.StoreCheck;
import io.verbena.table.check.StoreChecker;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.ChunkDescriptor;
import io.verbena.table.format.DirectoryEntry;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.SubtableDescriptor;
import io.verbena.table.format.Superblock;
import io.verbena.table.format.SuperblockDescriptor;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A store of one memory node that others work on while it is checked: at each READ of the check one of them may run an
 * operation, on so little memory that blocks are used again all the time.
 */
final class DisturbedStore implements CheckedStore, AutoCloseable
{
    static final int CHUNK_BYTES = 64 * 1024;
    static final int CHUNKS_AT = CHUNK_BYTES;
    static final int CHUNK_COUNT = 62;
    static final int HEADERS_AT = CHUNKS_AT + CHUNK_COUNT * CHUNK_BYTES;
    private static final int BLOCKS_CHUNK = (EngineFixture.BLOCKS_AT - CHUNKS_AT) / CHUNK_BYTES;
    private static final int KEYS = 24;
    /** Between two READs of slots as many operations as use all blocks again. */
    private static final int OPERATIONS_BESIDE_SLOTS = 60;
    /** Operations that find memory while an epoch is held up. */
    private static final int MOST_WHILE_HELD = 24;

    final EngineFixture fixture = EngineFixture.single(settings -> { });
    final OpenTable table;
    private final SplittableRandom random;
    private final boolean isHolding;
    boolean isLive;
    /** Null as long as nobody splits its subtables. */
    private SubtableSplitter splitter;
    private boolean isHeld;
    private long heldEpoch;
    private long epoch = 1;
    private int sinceHeld;
    int holds;
    /** Holds, the first ones, that get so many READs only. */
    int shortHolds;
    int readsOfShortHold;
    private int readsSinceHeld;
    boolean isBounded = true;
    int withoutMemory;

    DisturbedStore(final long seed, final int groups, final boolean isHolding)
    {
        this.isHolding = isHolding;
        random = new SplittableRandom(seed);
        fixture.chunkBytes = 1024;
        fixture.chunksLeft = 8;
        table = fixture.createTable(
            TablePlan.ofShape("t", 0x1234, 42, 0, groups, new int[]{EngineFixture.NODE}), CHUNKS_AT);
        final MemorySegment superblock = MemorySegment.ofArray(new long[SuperblockDescriptor.LENGTH / Long.BYTES]);
        SuperblockDescriptor.write(superblock, new Superblock(EngineFixture.NODE, 1,
            EngineFixture.MEMORY_BYTES, CHUNKS_AT, CHUNK_BYTES, CHUNK_COUNT, HEADERS_AT));
        fixture.memory().putBytes(0, superblock.toArray(ValueLayout.JAVA_BYTE));
        for (int i = 0; i < CHUNK_COUNT; i++)
        {
            state(i, i == 0 ? ChunkDescriptor.STATE_INDEX :
                i == BLOCKS_CHUNK ? ChunkDescriptor.STATE_BLOCKS : ChunkDescriptor.STATE_FREE);
        }
        for (int i = 0; i < KEYS; i++)
        {
            fixture.put(table, "key-" + i, "v");
        }
    }

    /** From now on its subtables, each no longer than a chunk, are split beside a check too. */
    SubtableSplitter splitSubtables()
    {
        splitter = new SubtableSplitter(this, random.nextLong());
        return splitter;
    }

    static long chunkAt(final int chunk)
    {
        return CHUNKS_AT + (long)chunk * CHUNK_BYTES;
    }

    void state(final int chunk, final int state)
    {
        ChunkDescriptor.write(fixture.memory(), HEADERS_AT + chunk * ChunkDescriptor.HEADER_BYTES,
            state, 1, 1, 0, 0, 1, 0);
    }

    StoreCheck check()
    {
        return new StoreChecker(this).check(List.of(EngineFixture.NODE));
    }

    List<String> problems()
    {
        final StoreCheck check = check();
        final List<String> problems = new ArrayList<>(check.problems());
        check.tables().values().forEach((found) -> problems.addAll(found.problems()));
        return problems;
    }

    /** Another node's operation, and an epoch if nobody holds it up. */
    private void disturb()
    {
        final String key = "key-" + random.nextInt(KEYS);
        if (random.nextInt(4) == 0)
        {
            fixture.run(OperationKind.DELETE, table, key, null, 0);
        }
        else
        {
            withoutMemory += OperationResult.NO_MEMORY ==
                fixture.run(OperationKind.PUT, table, key, "v" + random.nextInt(9), 0, 20_000).result() ? 1 : 0;
        }
        final long passed = isHeld && isHolding ? heldEpoch - 1 : epoch;
        if (passed >= epoch - 1)
        {
            epoch++;
        }
        fixture.engine.onEpoch(epoch, Math.min(passed, fixture.engine.passedEpoch()));
    }

    @Override
    public void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        final int operations = lengthBytes > BucketDescriptor.GROUP_BYTES ? OPERATIONS_BESIDE_SLOTS :
            lengthBytes == ChunkDescriptor.HEADER_BYTES ? 0 : random.nextInt(3);
        for (int i = 0; isLive && i < operations && isAllowed(); i++)
        {
            disturb();
        }
        if (isLive && splitter != null)
        {
            splitter.goOn();
        }
        readsSinceHeld++;
        fixture.fabric.read(memoryNodeId, offset, target, lengthBytes);
    }

    private boolean isAllowed()
    {
        return !isHolding || !isHeld || sinceHeld++ < MOST_WHILE_HELD || !isBounded;
    }

    @Override
    public boolean mayHoldOn()
    {
        return holds > shortHolds || readsSinceHeld < readsOfShortHold;
    }

    @Override
    public List<TableDescriptor> tables()
    {
        return List.of(splitter == null ? table.descriptor() : splitter.published());
    }

    @Override
    public boolean isLive()
    {
        return isLive;
    }

    @Override
    public void hold()
    {
        isHeld = true;
        holds++;
        sinceHeld = 0;
        readsSinceHeld = 0;
        heldEpoch = epoch;
    }

    @Override
    public void release()
    {
        isHeld = false;
        for (int i = 0; i <= EpochTracker.REUSE_DISTANCE; i++)
        {
            epoch++;
            fixture.engine.onEpoch(epoch, fixture.engine.passedEpoch());
        }
    }

    @Override
    public boolean awaitOthers()
    {
        return true;
    }

    UnsafeBuffer memory()
    {
        return fixture.memory();
    }

    int slot(final int index)
    {
        return (int)DirectoryEntry.subtableOffset(table.descriptor().entry(0)) + SubtableDescriptor.GROUPS_OFFSET +
            index / BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.BUCKET_BYTES +
            BucketDescriptor.SLOTS_OFFSET + index % BucketDescriptor.SLOTS_PER_BUCKET * BucketDescriptor.SLOT_BYTES;
    }

    long word(final int slot)
    {
        return memory().getLong(slot(slot), LITTLE_ENDIAN);
    }

    /** First slot that is committed, or that is empty, in a bucket that has one of both. */
    int find(final boolean isCommitted)
    {
        for (int bucket = 0; bucket < table.groupCount * BucketDescriptor.BUCKETS_PER_GROUP; bucket++)
        {
            int committed = -1;
            int empty = -1;
            for (int i = 0; i < BucketDescriptor.SLOTS_PER_BUCKET; i++)
            {
                final int slot = bucket * BucketDescriptor.SLOTS_PER_BUCKET + i;
                committed = SlotWord.isCommitted(word(slot)) ? slot : committed;
                empty = word(slot) == SlotWord.EMPTY ? slot : empty;
            }
            if (committed >= 0 && empty >= 0)
            {
                return isCommitted ? committed : empty;
            }
        }
        throw new AssertionError("no such bucket");
    }

    void plant(final int slot, final long word)
    {
        memory().putLong(slot(slot), word, LITTLE_ENDIAN);
    }

    @Override
    public void close()
    {
        fixture.close();
    }
}
