package io.verbena.table;

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
    int dieOneIn;
    int breakOneIn;
    /** Whether members that are declared lost answer still. */
    boolean isZombie;
    int[] kinds = {0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6};

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
