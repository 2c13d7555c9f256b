package io.verbena.table;

import io.verbena.table.format.BucketDescriptor;
import io.verbena.table.format.SlotWord;
import io.verbena.table.format.TableDescriptor;
import io.verbena.table.mirror.SlotReconciliation;
import java.util.PrimitiveIterator;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** A {@link MirroredRun} of a table with one group, which stays as it is. */
final class MirrorRun extends EnteringRun
{
    /** What a run may contain. */
    static final class Shape extends MirrorShape
    {
        /** Slots that claims of inserts that ended long ago have taken, so that the emptier pair of a key changes. */
        private int deadWords;

        private Shape()
        {
            super(60);
        }

        static Shape of(final long seed)
        {
            final Random random = new Random(seed * 37 + 11);
            final Shape shape = new Shape();
            shape.copies = 2 + random.nextInt(2);
            shape.engines = 2 + random.nextInt(2);
            shape.clients = 1 + random.nextInt(2);
            shape.keys = 1 + random.nextInt(3);
            shape.loseOneIn = random.nextInt(3) == 0 ? 0 : 1500;
            shape.dieOneIn = random.nextInt(3) == 0 ? 3000 : 0;
            shape.breakOneIn = random.nextInt(3) == 0 ? 1000 : 0;
            shape.isZombie = random.nextBoolean();
            shape.kinds = switch (random.nextInt(4))
            {
                case 0 -> shape.kinds;
                case 1 -> new int[]{0, 0, 2, 3, 3, 5, 5};
                case 2 -> new int[]{0, 2, 4, 7, 7, 7, 7, 5};
                default -> new int[]{0, 2, 2, 4, 5};
            };
            return shape;
        }

        /** Memory nodes come in, at first to one or to two. */
        static Shape entering(final long seed)
        {
            final Shape shape = of(seed);
            shape.copies = 1 + (int)(seed % 2);
            shape.enterOneIn = 300;
            shape.loseOneIn = 1200;
            return shape;
        }

        /** Copies are compared beside engines; no member is lost meanwhile. */
        static Shape checked(final long seed)
        {
            final Shape shape = wide(seed);
            shape.check();
            return shape;
        }

        /** All operations, scans and sweeps. */
        static Shape wide(final long seed)
        {
            final Shape shape = of(seed);
            shape.widen(seed, new Random(seed * 43 + 3));
            return shape;
        }

        /** Engines die about when members are lost: who lives goes on with what it has begun. */
        static Shape dying(final long seed)
        {
            final Shape shape = of(seed);
            shape.engines = 3;
            shape.keys = 3;
            shape.loseOneIn = 300;
            shape.dieOneIn = 300;
            shape.breakOneIn = 0;
            return shape;
        }

        /** Two keys that come and go, where most slots are taken. */
        static Shape inserting(final long seed)
        {
            final Shape shape = of(seed);
            shape.engines = 3;
            shape.keys = 2;
            shape.operations = 150;
            shape.breakOneIn = 0;
            shape.kinds = new int[]{2, 3, 3, 5, 5};
            shape.deadWords = 14 + (int)(seed % 7);
            return shape;
        }
    }

    MirrorRun(final long seed, final Shape shape, final Flaw... flaws)
    {
        super(seed, shape, flaws);
        addMembers(CHUNKS_END);
        for (int i = 0; i < shape.deadWords; i++)
        {
            leaveDeadWord(random.nextInt(BucketDescriptor.SLOTS_PER_GROUP), i);
        }
        for (int id = 1; id <= shape.engines; id++)
        {
            nodes.add(new Node(id));
        }
    }

    /** As a delete leaves it whose engine has ended. */
    private void leaveDeadWord(final int slot, final int version)
    {
        final long word = SlotWord.withKind(
            SlotWord.committed(1, 0, version, 2, SlotWord.BLOCK_ALIGNMENT_BYTES), SlotWord.KIND_TENTATIVE);
        members.forEach(id -> fabric.memory(id).putLong((int)slotAt(slot), word, LITTLE_ENDIAN));
    }

    @Override
    BooleanSupplier reconciliation(final SlotReconciliation words)
    {
        final PrimitiveIterator.OfInt slots = IntStream.range(0, BucketDescriptor.SLOTS_PER_GROUP).iterator();
        return () ->
        {
            final boolean isLeft = slots.hasNext();
            if (isLeft)
            {
                words.reconcile(slotAt(slots.nextInt()));
            }
            return isLeft;
        };
    }

    /** Only slots are made equal here. */
    @Override
    void prepareEntering(final UnsafeBuffer memory)
    {
        format(memory);
    }

    @Override
    TableDescriptor descriptor()
    {
        return plan.descriptor();
    }

    @Override
    void coordinateBesides()
    {
    }

    @Override
    String problem()
    {
        return null;
    }
}
