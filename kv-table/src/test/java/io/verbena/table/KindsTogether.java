package io.verbena.table;

import io.verbena.table.operation.OperationKind;
import java.util.ArrayList;
import java.util.List;

/** Different kinds that one engine begins together, as one number in the place of a kind. */
final class KindsTogether
{
    private static final int SEVERAL = 1 << 30;
    private static final int BITS = 4;
    private static final int MOST = 6;

    private KindsTogether()
    {
    }

    static int of(final int... kinds)
    {
        int together = SEVERAL;
        for (int n = kinds.length - 1; n >= 0; n--)
        {
            // 0 stands for none.
            together |= kinds[n] + 1 << n * BITS;
        }
        return together;
    }

    /** @return the n-th kind, from 0; a kind itself if it is one. */
    static int nth(final int kindOrKinds, final int n)
    {
        return areSeveral(kindOrKinds) ? (kindOrKinds >>> n * BITS & (1 << BITS) - 1) - 1 : kindOrKinds;
    }

    private static boolean areSeveral(final int kindOrKinds)
    {
        return kindOrKinds >= SEVERAL;
    }

    /** Also of what stands in the place of an operation. */
    static String name(final int kindOrKinds)
    {
        return switch (kindOrKinds)
        {
            case TableScenario.FENCE -> "fence";
            case TableScenario.RECLAIM -> "reclaim";
            case TableScenario.LATE_FENCE -> "late fence";
            case TableScenario.SPLIT -> "split";
            case TableScenario.MERGE -> "merge";
            case TableScenario.MERGE_PLACING -> "merge placing";
            case TableScenario.WALK -> "walk";
            case TableScenario.SPLIT_SIBLING -> "split sibling";
            case TableScenario.SWEEP -> "sweep";
            default -> nameOfOperations(kindOrKinds);
        };
    }

    private static String nameOfOperations(final int kindOrKinds)
    {
        final List<String> names = new ArrayList<>();
        for (int n = 0; n < (areSeveral(kindOrKinds) ? MOST : 1); n++)
        {
            if (nth(kindOrKinds, n) >= 0)
            {
                names.add(OperationKind.name(nth(kindOrKinds, n)));
            }
        }
        return String.join("+", names);
    }
}
