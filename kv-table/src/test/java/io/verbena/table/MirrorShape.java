package io.verbena.table;

import io.verbena.table.operation.OperationKind;
import java.util.Random;

/** What a {@link MirroredRun} may contain; drawn from its seed. */
class MirrorShape
{
    int copies;
    int engines;
    int clients;
    int keys;
    int operations;
    /** Blocks that each engine has. */
    int blocks = 60;
    /** One step in so many; 0: never. */
    int loseOneIn;
    /** Where there are fewer than three, one step in so many has another memory node come in. */
    int enterOneIn;
    int dieOneIn;
    int breakOneIn;
    /** Whether members that are declared lost answer still. */
    boolean isZombie;
    /** Whether several operations are begun before one doorbell. */
    boolean groups;
    /** By which no clock that judges deadlines is further from the time of the run; -1: records have no deadlines. */
    long skewNs = -1;
    /** One turn of a node in so many begins to sweep a subtable, or to scan the table; 0: none does. */
    int sweepOneIn;
    int scanOneIn;
    /** One step in so many begins a check of the copies; 0: none does. */
    int checkOneIn;
    int[] kinds = {0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6};

    /** What runs leave out otherwise: batches, values that grow, deadlines, sweeps and scans. */
    final void widen(final long seed, final Random random)
    {
        kinds = switch ((int)(seed % 4))
        {
            case 0 -> new int[]{0, 0, 1, 2, 3, 4, 5, 6, 8, 8, 8, 9};
            case 1 -> new int[]{0, 0, 2, 3, 4, 5, 6, 7, 7, 7, 7, 9};
            case 2 -> new int[]{0, 0, 1, 2, 3, 3, 4, 5, 6, 9, 10};
            default -> new int[]{0, 2, 3, 4, 5, 7, 7, 7, 9, 10};
        };
        groups = random.nextInt(3) > 0;
        clients += groups ? 2 : 0;
        engines = groups ? 2 : engines;
        final boolean expires = kinds[kinds.length - 1] == OperationKind.EXPIRE;
        skewNs = expires ? random.nextInt(20_000) : -1;
        sweepOneIn = expires ? 1 << random.nextInt(4) : 0;
        scanOneIn = expires ? 0 : 4 << random.nextInt(4);
    }

    final void check()
    {
        checkOneIn = 500;
        loseOneIn = 0;
        dieOneIn = 0;
        operations = 150;
    }

    MirrorShape(final int operations)
    {
        this.operations = operations;
    }

    /** @return whether somebody may leave a round behind that nobody finishes. */
    boolean leavesRounds()
    {
        return breakOneIn > 0;
    }
}
