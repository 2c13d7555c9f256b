package io.verbena.compute.figures;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.message.DeniedOperations;
import io.verbena.raas.identity.PeerIdentity;

import java.util.ArrayList;
import java.util.List;

/**
 * What a node has denied since it reported the last time: by caller, operation and table, 11 of them, and how many
 * more. Of one caller 3 of them and how many more, so that who makes up names of tables hides nobody else's. Of keys
 * and values it knows nothing. Allocates nothing but the report. The node's thread.
 */
public final class DeniedTally
{
    private static final int MAX_ENTRIES = DeniedOperations.MAX_REPORTED - 1;
    /** Entries of a caller by operation and table; another one has the number of what else is its. */
    private static final int MAX_OF_CALLER = 3;
    private static final Object OTHER_OPERATIONS = "other operations";

    /** A caller is null where it proved nothing. */
    private final PeerIdentity[] callers = new PeerIdentity[MAX_ENTRIES];
    private final Object[] operations = new Object[MAX_ENTRIES];
    private final String[] tables = new String[MAX_ENTRIES];
    private final long[] times = new long[MAX_ENTRIES];
    private int count;
    private long others;
    private String lastUnproved;

    /**
     * Counts one.
     *
     * @param caller    as its connection proved.
     * @param operation kind of it, one object for each.
     * @param table     name of the table; null: none.
     */
    public void add(final PeerIdentity caller, final Object operation, final String table)
    {
        int ofCaller = 0;
        for (int i = 0; i < count; i++)
        {
            if (caller.equals(callers[i]))
            {
                if (isEntry(i, operation, table))
                {
                    times[i]++;
                    return;
                }
                ofCaller++;
            }
        }
        if (MAX_OF_CALLER <= ofCaller && OTHER_OPERATIONS != operation)
        {
            add(caller, OTHER_OPERATIONS, null);
            return;
        }
        append(caller, operation, table, 1);
    }

    /**
     * Counts refusals of peers that proved nothing: one entry, however many addresses they have.
     *
     * @param what     was refused, always the same.
     * @param howOften 1 or more.
     * @param last     address of the last one.
     */
    public void addUnproved(final String what, final long howOften, final String last)
    {
        lastUnproved = last;
        for (int i = 0; i < count; i++)
        {
            if (null == callers[i])
            {
                times[i] += howOften;
                return;
            }
        }
        append(null, what, null, howOften);
    }

    private void append(final PeerIdentity caller, final Object operation, final String table, final long howOften)
    {
        if (MAX_ENTRIES == count)
        {
            others += howOften;
            return;
        }
        callers[count] = caller;
        operations[count] = operation;
        tables[count] = table;
        times[count++] = howOften;
    }

    private boolean isEntry(final int index, final Object operation, final String table)
    {
        return operations[index] == operation &&
            (null == table ? null == tables[index] : table.equals(tables[index]));
    }

    /** @return whether nothing was denied since. */
    public boolean isEmpty()
    {
        return 0 == count;
    }

    /**
     * Takes what was denied since, to report it.
     *
     * @param rules that name the callers.
     * @return at least one, unless {@link #isEmpty}.
     */
    public List<DeniedOperations> take(final AccessRules rules)
    {
        final List<DeniedOperations> taken = new ArrayList<>(count + 1);
        for (int i = 0; i < count; i++)
        {
            taken.add(null == callers[i] ?
                new DeniedOperations(
                    DeniedOperations.UNPROVED, operations[i] + ", the last of " + lastUnproved, times[i]) :
                new DeniedOperations(rules.nameOf(callers[i]),
                    operations[i] + (null == tables[i] ? "" : " in table " + tables[i]), times[i]));
            callers[i] = null;
            operations[i] = null;
            tables[i] = null;
        }
        if (others > 0)
        {
            taken.add(new DeniedOperations("others", OTHER_OPERATIONS.toString(), others));
        }
        count = 0;
        others = 0;
        return taken;
    }
}
