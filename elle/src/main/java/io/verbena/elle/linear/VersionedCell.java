package io.verbena.elle.linear;

import io.verbena.elle.history.EdnValue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What a key of {@link VersionedModel} holds, with all that is known of its version.
 *
 * @param present  whether there is a value.
 * @param value    the value; null also if there is none.
 * @param version  the version if {@code isKnown}, else all that is known is that it is greater than this.
 * @param isKnown  whether the version is known.
 * @param excluded versions that a version not known cannot be, in order.
 * @param deadline by which the value goes when time is up, or null.
 */
record VersionedCell(
    boolean present, Object value, long version, boolean isKnown, List<Long> excluded, Long deadline)
{
    /** Nothing is there. Version numbers may start anywhere, also after a delete. */
    static final VersionedCell ABSENT = new VersionedCell(false, null, Long.MIN_VALUE, false, List.of(), null);

    /**
     * The cell after a write that says nothing of a deadline; null if it cannot have got that version. A null version
     * is not known.
     */
    VersionedCell written(final Object newValue, final Long newVersion)
    {
        final long least = least();
        if (newVersion == null)
        {
            return new VersionedCell(true, newValue, least, false, List.of(), null);
        }
        return newVersion > least ? new VersionedCell(true, newValue, newVersion, true, List.of(), null) : null;
    }

    /** The cell with another deadline, null for none. */
    VersionedCell until(final Long newDeadline)
    {
        return new VersionedCell(present, value, version, isKnown, excluded, newDeadline);
    }

    /** The least version the cell can have; without any bound, the next write has none either. */
    private long least()
    {
        if (isKnown || version == Long.MIN_VALUE)
        {
            return version;
        }
        long least = version + 1;
        while (excluded.contains(least))
        {
            least++;
        }
        return least;
    }

    /** The cell if it has that version, else null. */
    VersionedCell having(final long wanted)
    {
        if (isKnown)
        {
            return wanted == version ? this : null;
        }
        return wanted > version && !excluded.contains(wanted) ?
            new VersionedCell(present, value, wanted, true, List.of(), deadline) : null;
    }

    /** The cell if it has any other version, else null. */
    VersionedCell notHaving(final long unwanted)
    {
        if (isKnown)
        {
            return unwanted == version ? null : this;
        }
        if (unwanted <= version || excluded.contains(unwanted))
        {
            return this;
        }
        final List<Long> more = new ArrayList<>(excluded);
        more.add(unwanted);
        Collections.sort(more);
        return new VersionedCell(present, value, version, false, List.copyOf(more), deadline);
    }

    @Override
    public String toString()
    {
        if (!present)
        {
            return "absent";
        }
        final String bound = version == Long.MIN_VALUE ? "any version" : "a version > " + version;
        return EdnValue.toText(value) + (isKnown ? " version " + version : " " + bound) +
            (deadline == null ? "" : " until " + deadline);
    }
}
