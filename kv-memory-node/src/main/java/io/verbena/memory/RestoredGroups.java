package io.verbena.memory;

import io.verbena.protocol.view.RestoredGroup;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
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
            final RestoredGroup restored =
                decode(folder.path().resolve(MemoryFolder.RESTORED), group.toString(), text.toString());
            byGroup.put(restored.group(), restored);
        });
    }

    private static RestoredGroup decode(final Path file, final String group, final String text)
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

        throw new MemoryNodeException("the list of restored groups is damaged: " + group + "=" + text + "; remove " +
            file + ". A group that waits for this memory node then waits until it has lost its memory once more",
            null);
    }

    /** Replaces all, also what the folder says of memory that is gone; on disk when this returns. */
    void set(final Collection<RestoredGroup> restored)
    {
        byGroup.clear();
        restored.forEach((each) -> byGroup.put(each.group(), each));

        if (!restored.isEmpty() || isKept())
        {
            keep(restored);
        }
    }

    private boolean isKept()
    {
        try
        {
            return !folder.restoredGroups().isEmpty();
        }
        catch (final MemoryNodeException ex)
        {
            return true; // damaged, and replaced
        }
    }

    /**
     * Takes out groups that have gone on; on disk when this returns.
     *
     * @throws MemoryNodeException when that cannot be written; all are as before.
     */
    void removeAll(final Set<Integer> groups)
    {
        final List<RestoredGroup> left =
            byGroup.values().stream().filter((each) -> !groups.contains(each.group())).toList();

        if (left.size() < byGroup.size())
        {
            keep(left);
            byGroup.keySet().removeAll(groups);
        }
    }

    private void keep(final Collection<RestoredGroup> kept)
    {
        final Properties lines = new Properties();
        kept.forEach((each) -> lines.setProperty(Integer.toString(each.group()),
            each.number() + " " + each.startedMs() + " " + each.records() + " " + each.isOfPrimary()));
        folder.keepRestoredGroups(lines);
    }

    /** @return name on the fabric of the memory that they were restored into. */
    String memoryName()
    {
        return folder.memoryName();
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
