package io.verbena.table.allocation;

/**
 * The node's view of the cluster's epochs, on which reuse of memory stands.
 *
 * <p>Rules. An operation belongs to the epoch that was known when it began. A block retired while epoch E was known may
 * be used again when the safe epoch, the least passed epoch of all live compute nodes, is E + {@link #REUSE_DISTANCE}
 * or more. The node has passed e - 1 only when every operation begun before it heard e has ended. A cached location is
 * used only while its tag is at least the known epoch - 1; after that it is a hint, which a READ has to confirm. Single
 * owner thread.
 */
public final class EpochTracker
{
    /** Distance between the epoch in which a block was retired and the safe epoch at which it may be used again. */
    public static final int REUSE_DISTANCE = 3;
    /**
     * Epochs after its own in which an operation of unknown outcome may be begun again: so long are blocks untouched
     * that could tell of it. Indexes that nobody uses any more are retired as if that had been so many epochs later,
     * because a repetition reads the slot that it has worked on.
     */
    public static final int REPEAT_EPOCHS = 2;

    private long epoch;
    private long safeEpoch;
    private long heldEpoch = Long.MAX_VALUE;
    private boolean isAwaited;
    private long firstHint;

    /** @param initialEpoch epoch heard when the node joined. */
    public EpochTracker(final long initialEpoch)
    {
        epoch = initialEpoch;
    }

    /** @return newest epoch heard. */
    public long epoch()
    {
        return epoch;
    }

    /** Both only ever grow; an older report is ignored. */
    public void onEpoch(final long newEpoch, final long newSafeEpoch)
    {
        epoch = Math.max(epoch, newEpoch);
        safeEpoch = Math.max(safeEpoch, newSafeEpoch);
    }

    /**
     * Keeps this node from passing the present epoch, and with it all from using again what is named from now on: for
     * who reads memory beside operations. To be released soon.
     */
    public void hold()
    {
        heldEpoch = epoch;
    }

    /** Ends {@link #hold()}. */
    public void release()
    {
        heldEpoch = Long.MAX_VALUE;
    }

    /** @return the epoch that must not be passed yet. */
    public long heldEpoch()
    {
        return Math.min(epoch, heldEpoch);
    }

    /** Says whether somebody beside operations waits for epochs. */
    public void await(final boolean awaits)
    {
        isAwaited = awaits;
    }

    public boolean isAwaited()
    {
        return isAwaited;
    }

    /** @return whether a location with this tag may still be used. */
    public boolean isCacheTagCurrent(final long tag)
    {
        return tag >= epoch - 1;
    }

    /** Each key is looked for anew when it is used next, unless its location was seen in the present epoch or later. */
    public void forgetLocations()
    {
        firstHint = epoch;
    }

    /** @return whether a location with this tag, which may not be used, is still where to look first. */
    public boolean isHint(final long tag)
    {
        return tag >= firstHint;
    }

    /** @return whether a block retired in this epoch may be used again. */
    public boolean isReusable(final long retiredEpoch)
    {
        return safeEpoch >= retiredEpoch + REUSE_DISTANCE;
    }

    @Override
    public String toString()
    {
        return "epoch=" + epoch + " safeEpoch=" + safeEpoch;
    }
}
