package io.verbena.table;

import java.util.Random;

/** What a {@link GrowingMirrorRun} may contain; drawn from its seed. */
final class GrowingMirrorShape extends MirrorShape
{
    int splitOneIn;
    int mergeOneIn;
    /** Whoever has proposed a merge loses its connections while it decides it. */
    boolean leavesProposals;

    private GrowingMirrorShape()
    {
        super(80);
    }

    @Override
    boolean leavesRounds()
    {
        return super.leavesRounds() || leavesProposals;
    }

    static GrowingMirrorShape of(final long seed)
    {
        final Random random = new Random(seed * 41 + 17);
        final GrowingMirrorShape shape = new GrowingMirrorShape();
        shape.copies = 2 + random.nextInt(2);
        shape.engines = 2 + random.nextInt(2);
        shape.clients = 1 + random.nextInt(2);
        shape.keys = 1 + random.nextInt(4);
        shape.loseOneIn = random.nextInt(3) == 0 ? 0 : 2500;
        shape.dieOneIn = random.nextInt(3) == 0 ? 5000 : 0;
        shape.breakOneIn = random.nextInt(3) == 0 ? 1500 : 0;
        shape.isZombie = random.nextBoolean();
        shape.splitOneIn = 2 << random.nextInt(4);
        shape.mergeOneIn = 1 + random.nextInt(3);
        shape.leavesProposals = random.nextInt(4) == 0;
        shape.kinds = random.nextBoolean() ? shape.kinds : new int[]{0, 2, 2, 4, 5, 7, 7};
        return shape;
    }

    /** As {@link #proposing}, in groups that soon have one member left. */
    static GrowingMirrorShape losing(final long seed)
    {
        final GrowingMirrorShape shape = proposing(seed);
        shape.loseOneIn = 1200;
        shape.dieOneIn = 0;
        shape.operations = 200;
        return shape;
    }

    /** Memory nodes come in, at first to one or to two. */
    static GrowingMirrorShape entering(final long seed)
    {
        final GrowingMirrorShape shape = of(seed);
        shape.copies = 1 + (int)(seed % 2);
        shape.enterOneIn = 500;
        shape.loseOneIn = 1500;
        return shape;
    }

    /** Copies are compared beside engines; no member is lost meanwhile. */
    static GrowingMirrorShape checked(final long seed)
    {
        final GrowingMirrorShape shape = wide(seed);
        shape.check();
        return shape;
    }

    /** All operations, scans and sweeps. */
    static GrowingMirrorShape wide(final long seed)
    {
        final GrowingMirrorShape shape = of(seed);
        shape.widen(seed, new Random(seed * 47 + 5));
        return shape;
    }

    /** Proposals are left and taken back, and others are made in their place. */
    static GrowingMirrorShape proposing(final long seed)
    {
        final GrowingMirrorShape shape = of(seed);
        shape.engines = 3;
        shape.keys = 1 + (int)(seed % 2);
        shape.operations = 120;
        shape.splitOneIn = 2;
        shape.leavesProposals = true;
        return shape;
    }
}
