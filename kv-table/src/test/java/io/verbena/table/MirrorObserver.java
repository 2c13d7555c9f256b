package io.verbena.table;

import io.verbena.table.allocation.EpochTracker;
import io.verbena.table.check.CheckedStore;
import io.verbena.table.format.TableDescriptor;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/** The copies of a {@link MirroredRun} as a check sees them, whose engines go on before each READ. */
final class MirrorObserver implements CheckedStore
{
    private static final int MOST_STEPS = 200_000;

    private final MirroredRun run;
    private long heldEpoch = Long.MAX_VALUE;

    MirrorObserver(final MirroredRun run)
    {
        this.run = run;
    }

    /** @return the epoch that it has passed. */
    long passed()
    {
        return heldEpoch == Long.MAX_VALUE ? heldEpoch : heldEpoch - 1;
    }

    @Override
    public void read(
        final int memoryNodeId, final long offset, final MutableDirectBuffer target, final int lengthBytes)
    {
        readCopy(memoryNodeId, run.members.size() - 1, offset, target, lengthBytes);
    }

    @Override
    public int copyCount(final int memoryNodeId)
    {
        return run.members.size();
    }

    @Override
    public void readCopy(
        final int memoryNodeId, final int copy, final long offset, final MutableDirectBuffer target,
        final int lengthBytes)
    {
        for (int i = run.random.nextInt(8); i > 0; i--)
        {
            run.goOn();
        }
        run.fabric.read(run.members.get(copy), offset, target, lengthBytes);
    }

    @Override
    public List<TableDescriptor> tables()
    {
        return List.of(run.descriptor());
    }

    @Override
    public boolean isLive()
    {
        return true;
    }

    @Override
    public void hold()
    {
        heldEpoch = run.epoch;
    }

    @Override
    public void release()
    {
        heldEpoch = Long.MAX_VALUE;
    }

    @Override
    public boolean awaitOthers()
    {
        final long begun = run.epoch + EpochTracker.REUSE_DISTANCE;
        for (int i = 0; i < MOST_STEPS && run.safeEpoch() < begun; i++)
        {
            run.goOn();
        }
        return run.safeEpoch() >= begun;
    }
}
