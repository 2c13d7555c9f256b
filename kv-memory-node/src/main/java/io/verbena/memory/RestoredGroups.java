package io.verbena.memory;

import io.verbena.protocol.view.RestoredGroup;

import java.util.Collection;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The groups whose tables were restored into this memory from checkpoints, as long as it is not known what becomes of
 * them: one member's are taken, those of others are given up. Kept in the node's folder, so that the next process that
 * finds the memory knows it, too. One thread.
 */
final class RestoredGroups
{
    private static final int FIELDS = 4;

    private final MemoryFolder folder;
    private final Map<Integer, RestoredGroup> byGroup = new TreeMap<>();

    /** @param folder of the node. */
    RestoredGroups(final MemoryFolder folder)
    {
        this.folder = folder;
    }

    /**
     * @param folder  of the node, or null.
     * @param isFound whether the memory is that of the process before, with what that one has restored.
     * @return of the node; null without a folder.
     */
    static RestoredGroups of(final MemoryFolder folder, final boolean isFound)
    {
        final RestoredGroups restored = null == folder ? null : new RestoredGroups(folder);

        if (null != restored && isFound)
        {
            restored.load();
        }

        return restored;
    }

    private void load()
    {
        folder.restoredGroups().forEach((group, text) ->
        {
            final RestoredGroup restored = decode(group.toString(), text.toString());
            byGroup.put(restored.group(), restored);
        });
    }

    private static RestoredGroup decode(final String group, final String text)
    {
        final String[] fields = text.split(" ");

        try
        {
            if (FIELDS == fields.length)
            {
                return new RestoredGroup(Integer.parseInt(group), Long.parseLong(fields[0]), Long.parseLong(fields[1]),
                    Long.parseLong(fields[2]), Boolean.parseBoolean(fields[3]));
            }
        }
        catch (final IllegalArgumentException ignore)
        {
            // Said below.
        }

        throw new MemoryNodeException("the list of restored groups is damaged: " + group + "=" + text +
            "; restore the data folder of this memory node from a copy", null);
    }

    /** Replaces all, also what the folder says of memory that is gone; on disk when this returns. */
    void set(final Collection<RestoredGroup> restored)
    {
        byGroup.clear();
        restored.forEach((each) -> byGroup.put(each.group(), each));

        if (!restored.isEmpty() || !folder.restoredGroups().isEmpty())
        {
            keep();
        }
    }

    /** Takes one out: its group has gone on. On disk when this returns. */
    void remove(final int group)
    {
        if (null != byGroup.remove(group))
        {
            keep();
        }
    }

    private void keep()
    {
        final Properties lines = new Properties();
        byGroup.values().forEach((each) -> lines.setProperty(Integer.toString(each.group()),
            each.number() + " " + each.startedMs() + " " + each.records() + " " + each.isOfPrimary()));
        folder.keepRestoredGroups(lines);
    }

    /** @return what was restored of a group; null: nothing. */
    RestoredGroup of(final int group)
    {
        return byGroup.get(group);
    }

    /** @return all, by ascending group; a view. */
    Collection<RestoredGroup> all()
    {
        return byGroup.values();
    }
}
