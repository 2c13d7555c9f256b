package io.verbena.table;

import io.verbena.table.allocation.ChunkSource;
import io.verbena.table.directory.GrowthSource;
import io.verbena.table.format.BlockVersion;
import io.verbena.table.growth.GrowthBatch;
import io.verbena.table.operation.OperationListener;
import io.verbena.table.operation.OperationSettings;
import java.util.Objects;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.OffsetEpochNanoClock;
import org.agrona.concurrent.SystemEpochClock;

/** Settings of a {@link TableEngine}; fluent, read once when the engine is made. */
public final class TableEngineConfiguration implements OperationSettings
{
    private int operationSlots = 64;
    private int locationCacheEntries = 1 << 16;
    private int writerNumber = 1;
    private int clientId;
    private long initialEpoch = 1;
    private long maxQuarantineBytes = 256L << 20;
    private long backoffMinNs = 1_000;
    private long backoffMaxNs = 1_000_000;
    private long seed = 1;
    private EpochNanoClock versionClock;
    private EpochClock expiryClock = SystemEpochClock.INSTANCE;
    private OperationListener operationListener;
    private ChunkSource chunkSource;
    private boolean repeatsLostOutcomes;
    private boolean controlsContention = true;
    private GrowthSource growthSource = GrowthSource.NONE;
    private int splitGroupsUnderWay = GrowthBatch.MAX_LANES;

    /** @return most operations under way at once, 1 to 4096. */
    public int operationSlots()
    {
        return operationSlots;
    }

    /** Sets {@link #operationSlots()}; each takes about 200 KiB of registered address space, touched as needed. */
    public TableEngineConfiguration operationSlots(final int count)
    {
        operationSlots = count;
        return this;
    }

    /** @return bound of the location cache in entries of 64 bytes; 0 turns it off. */
    public int locationCacheEntries()
    {
        return locationCacheEntries;
    }

    /** Sets {@link #locationCacheEntries()}; rounded up to a power of two. */
    public TableEngineConfiguration locationCacheEntries(final int count)
    {
        locationCacheEntries = count;
        return this;
    }

    /** @return number that makes this engine's versions unique. */
    @Override
    public int writerNumber()
    {
        return writerNumber;
    }

    /** Sets {@link #writerNumber()}, 0 to 65,535; no other writer of the same tables may ever use it. */
    public TableEngineConfiguration writerNumber(final int number)
    {
        writerNumber = number;
        return this;
    }

    /** @return who writes, as noted in blocks. */
    @Override
    public int clientId()
    {
        return clientId;
    }

    /** Sets {@link #clientId()}. */
    public TableEngineConfiguration clientId(final int id)
    {
        clientId = id;
        return this;
    }

    /** @return epoch the node heard when it joined. */
    public long initialEpoch()
    {
        return initialEpoch;
    }

    /** Sets {@link #initialEpoch()}. */
    public TableEngineConfiguration initialEpoch(final long epoch)
    {
        initialEpoch = epoch;
        return this;
    }

    /** @return most bytes of retired blocks; beyond it writers wait for the epoch. */
    public long maxQuarantineBytes()
    {
        return maxQuarantineBytes;
    }

    /** Sets {@link #maxQuarantineBytes()}. */
    public TableEngineConfiguration maxQuarantineBytes(final long bytes)
    {
        maxQuarantineBytes = bytes;
        return this;
    }

    /** @return longest first pause after contention. */
    @Override
    public long backoffMinNs()
    {
        return backoffMinNs;
    }

    /** @return longest pause after any amount of contention. */
    @Override
    public long backoffMaxNs()
    {
        return backoffMaxNs;
    }

    /** Sets {@link #backoffMinNs()} and {@link #backoffMaxNs()}. */
    public TableEngineConfiguration backoffNs(final long minNs, final long maxNs)
    {
        backoffMinNs = minNs;
        backoffMaxNs = maxNs;
        return this;
    }

    /** @return seed of the random pauses. */
    @Override
    public long seed()
    {
        return seed;
    }

    /** Sets {@link #seed()}; different for each engine, or they pause alike. */
    public TableEngineConfiguration seed(final long value)
    {
        seed = value;
        return this;
    }

    /** @return nanoseconds since 1970, for versions. */
    public EpochNanoClock versionClock()
    {
        return versionClock;
    }

    /** Sets {@link #versionClock()}; the wall clock if not set. Under simulation, give the virtual one. */
    public TableEngineConfiguration versionClock(final EpochNanoClock clock)
    {
        versionClock = clock;
        return this;
    }

    @Override
    public EpochClock expiryClock()
    {
        return expiryClock;
    }

    /**
     * Sets the clock by which deadlines of records pass: milliseconds since 1970, the wall clock if not set. How far it
     * is from those of other engines says when a record ends, see {@code docs/protocol/expiry.md}; nothing else
     * depends on it.
     */
    public TableEngineConfiguration expiryClock(final EpochClock clock)
    {
        expiryClock = Objects.requireNonNull(clock);
        return this;
    }

    /** @return who hears of finished operations. */
    @Override
    public OperationListener operationListener()
    {
        return operationListener;
    }

    /** Sets {@link #operationListener()}; required. */
    public TableEngineConfiguration operationListener(final OperationListener listener)
    {
        operationListener = listener;
        return this;
    }

    /** @return where memory comes from. */
    @Override
    public ChunkSource chunkSource()
    {
        return chunkSource;
    }

    /** Sets {@link #chunkSource()}; required. */
    public TableEngineConfiguration chunkSource(final ChunkSource source)
    {
        chunkSource = source;
        return this;
    }

    /** @return whether an operation whose answer was lost with its connection finds out what became of it. */
    @Override
    public boolean repeatsLostOutcomes()
    {
        return repeatsLostOutcomes;
    }

    /**
     * Sets {@link #repeatsLostOutcomes()}: instead of ending with an unknown outcome at once, such an operation waits
     * for the next connection to its memory node, at most until its deadline, and repeats itself as {@link
     * TableEngine#repeatNext} says. Off if not set.
     */
    public TableEngineConfiguration repeatsLostOutcomes(final boolean isOn)
    {
        repeatsLostOutcomes = isOn;
        return this;
    }

    /** @return whether writers of one key are combined, pause after losses, and are limited by a credit. */
    @Override
    public boolean controlsContention()
    {
        return controlsContention;
    }

    /**
     * Sets {@link #controlsContention()}: PUTs and INCREMENTs of one key that are under way at this engine together
     * share compare-and-swaps; who lost pauses, see {@link #backoffNs}; and fewer writers are under way at once the
     * more of them lose. On if not set; off only to compare.
     */
    public TableEngineConfiguration controlsContention(final boolean isOn)
    {
        controlsContention = isOn;
        return this;
    }

    @Override
    public GrowthSource growthSource()
    {
        return growthSource;
    }

    /** Sets who splits subtables that fill up. Nobody if not set. */
    public TableEngineConfiguration growthSource(final GrowthSource source)
    {
        growthSource = source;
        return this;
    }

    int splitGroupsUnderWay()
    {
        return splitGroupsUnderWay;
    }

    /**
     * Sets how many groups of a subtable that is split are moved at a time, 1 to 8. 8 if not set; 1 where something is
     * to be seen half way.
     */
    public TableEngineConfiguration splitGroupsUnderWay(final int groups)
    {
        if (groups < 1 || groups > GrowthBatch.MAX_LANES)
        {
            throw new IllegalArgumentException("groups of a split under way: " + groups + ", must be 1 to " +
                GrowthBatch.MAX_LANES);
        }
        splitGroupsUnderWay = groups;
        return this;
    }

    void conclude()
    {
        Objects.requireNonNull(operationListener, "operationListener must be set");
        Objects.requireNonNull(chunkSource, "chunkSource must be set");
        if (operationSlots < 1 || operationSlots > 4096 || locationCacheEntries < 0 || writerNumber < 0 ||
            writerNumber > BlockVersion.MAX_WRITER_NUMBER || backoffMinNs < 1 || backoffMaxNs < backoffMinNs)
        {
            throw new IllegalArgumentException("out of range: " + this);
        }
        if (versionClock == null)
        {
            versionClock = new OffsetEpochNanoClock();
        }
    }

    @Override
    public String toString()
    {
        return "TableEngineConfiguration{operationSlots=" + operationSlots + " locationCacheEntries=" +
            locationCacheEntries + " writerNumber=" + writerNumber + " clientId=" + clientId + " maxQuarantineBytes=" +
            maxQuarantineBytes + " backoffMinNs=" + backoffMinNs + " backoffMaxNs=" + backoffMaxNs + '}';
    }
}
