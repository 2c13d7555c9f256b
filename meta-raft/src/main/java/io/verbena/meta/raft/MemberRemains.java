package io.verbena.meta.raft;

import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaCommandDescriptor;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStoreException;
import io.verbena.meta.store.ReplicatedState;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.util.SizeInBytes;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.FOREIGN;
import static io.verbena.meta.store.MetaStoreException.Category.LOCKED;
import static io.verbena.meta.store.MetaStoreException.Category.READ_ONLY;
import static io.verbena.meta.store.MetaStoreException.Category.UNKNOWN_VERSION;

/**
 * What the folder of one member knows, for a group whose majority is lost for good: its latest snapshot that is whole,
 * and all entries of its log behind that. Entries are taken whether or not the group had agreed on them, since nobody
 * is left who knows, and one too many loses nothing. Nothing in the folder is changed: it may be a copy that cannot be
 * written. Immutable, but for the arrays of its state.
 *
 * @param folder      that was read.
 * @param state       all of it.
 * @param index       last entry; -1: there is none.
 * @param term        of that entry.
 * @param lastWritten when a file of the log was written last.
 * @param damage      a line for each file that is damaged, and why what came behind the last entry was left out.
 */
public record MemberRemains(Path folder, MetaState state, long index, long term, Instant lastWritten,
    List<String> damage)
{
    private static final String CURRENT = "current";
    private static final String MACHINE = "sm";
    private static final String LOCK = "in_use.lock";
    /** A file of the log that is complete: log_FIRST-LAST. */
    private static final Pattern CLOSED = Pattern.compile("log_\\d+-(\\d+)");
    private static final SizeInBytes MOST_BYTES = SizeInBytes.valueOf("32MB");

    /**
     * Reads the folder of a member that does not run.
     *
     * @param folder of its log.
     * @return what it knows.
     * @throws MetaStoreException when it is no such folder, in use, has nothing that can be read, has files that this
     *                            user may not read, or was written by a build whose format this one does not know: what
     *                            another user or build can read is not given up as damaged.
     */
    public static MemberRemains read(final Path folder)
    {
        final Path group = groupFolder(folder);
        try (FileChannel channel = lockChannel(group))
        {
            requireUnused(folder, channel);
            return new Reader(folder, group).read();
        }
        catch (final IOException ex)
        {
            throw new MetaStoreException(READ_ONLY, "folder " + folder + " cannot be read (" + ex + "): give this " +
                "user the rights", ex);
        }
    }

    /**
     * @param all of one group, one or more.
     * @return the one whose last entry is the latest.
     */
    public static MemberRemains latest(final List<MemberRemains> all)
    {
        return all.stream().max(Comparator.comparingLong(MemberRemains::term).thenComparingLong(MemberRemains::index))
            .orElseThrow();
    }

    private static Path groupFolder(final Path folder)
    {
        final List<Path> groups = new ArrayList<>();
        if (Files.isDirectory(folder))
        {
            try (Stream<Path> entries = Files.list(folder))
            {
                entries.filter((entry) -> Files.isDirectory(entry.resolve(CURRENT))).forEach(groups::add);
            }
            catch (final IOException ex)
            {
                throw new MetaStoreException(READ_ONLY, "folder " + folder + " cannot be read (" + ex + "): give " +
                    "this user the rights", ex);
            }
        }
        if (1 != groups.size())
        {
            throw new MetaStoreException(FOREIGN, "folder " + folder + (groups.isEmpty() ? " has no log of a member" :
                " has the logs of " + groups.size() + " groups") + ": give what --data of a meta server of a group " +
                "names", null);
        }
        return groups.getFirst();
    }

    /** Of the file that a member holds; where there is none nobody does. */
    private static FileChannel lockChannel(final Path group) throws IOException
    {
        final Path lock = group.resolve(LOCK);
        return Files.exists(lock) ? FileChannel.open(lock, StandardOpenOption.READ) : null;
    }

    private static void requireUnused(final Path folder, final FileChannel channel) throws IOException
    {
        FileLock lock = null;
        try
        {
            // Shared, which the member's own excludes too: the folder may be read-only.
            lock = null == channel ? null : channel.tryLock(0, Long.MAX_VALUE, true);
        }
        catch (final OverlappingFileLockException ex)
        {
            // Held by this process: as by another one.
        }
        if (null != channel && null == lock)
        {
            throw new MetaStoreException(LOCKED, "folder " + folder + " is in use by a running meta server: stop it " +
                "first", null);
        }
    }

    /** Of one folder. */
    private static final class Reader
    {
        private final Path folder;
        private final Path group;
        private final ReplicatedState state = new ReplicatedState();
        private final List<String> damage = new ArrayList<>();

        private Reader(final Path folder, final Path group)
        {
            this.folder = folder;
            this.group = group;
        }

        private MemberRemains read() throws IOException
        {
            restoreSnapshot();
            Instant lastWritten = Files.getLastModifiedTime(group.resolve(CURRENT)).toInstant();
            boolean isWhole = true;
            for (final LogSegmentPath segment : segments())
            {
                final Instant written = Files.getLastModifiedTime(segment.getPath()).toInstant();
                lastWritten = written.isAfter(lastWritten) ? written : lastWritten;
                isWhole = isWhole && apply(segment);
            }
            if (state.isEmpty())
            {
                throw new MetaStoreException(CORRUPT, "folder " + folder + " has no entry that can be used" +
                    (damage.isEmpty() ? "" : ": " + String.join("; ", damage)), null);
            }
            return new MemberRemains(
                folder, state.load(), state.index(), state.term(), lastWritten, List.copyOf(damage));
        }

        /** The latest one that is whole; without any the log has to begin at its beginning. */
        private void restoreSnapshot() throws IOException
        {
            final List<Path> snapshots = new ArrayList<>();
            final Path machine = group.resolve(MACHINE);
            if (Files.isDirectory(machine))
            {
                try (Stream<Path> files = Files.list(machine))
                {
                    files.filter((file) -> 0 <= snapshotIndex(file)).forEach(snapshots::add);
                }
            }
            snapshots.sort(Comparator.comparingLong(Reader::snapshotIndex).reversed());
            for (final Path snapshot : snapshots)
            {
                try
                {
                    state.restore(MetaCommandDescriptor.decode(snapshot.toString(), Files.readAllBytes(snapshot)));
                    return;
                }
                catch (final MetaStoreException ex)
                {
                    requireKnown(ex);
                    // An older one and more of the log may have the same.
                    damage.add(ex.getMessage());
                }
            }
        }

        private static long snapshotIndex(final Path file)
        {
            final Matcher matcher =
                SimpleStateMachineStorage.SNAPSHOT_REGEX.matcher(file.getFileName().toString());
            return matcher.matches() ? Long.parseLong(matcher.group(2)) : -1;
        }

        private List<LogSegmentPath> segments() throws IOException
        {
            final List<LogSegmentPath> segments = new ArrayList<>();
            try (Stream<Path> files = Files.list(group.resolve(CURRENT)))
            {
                for (final Path file : files.filter((each) -> each.getFileName().toString().startsWith("log_"))
                    .toList())
                {
                    // An empty file the library would remove.
                    final LogSegmentPath segment = 0 == Files.size(file) ? null : LogSegmentPath.matchLogSegment(file);
                    if (null != segment)
                    {
                        segments.add(segment);
                    }
                }
            }
            segments.sort(Comparator.comparing(LogSegmentPath::getStartEnd));
            return segments;
        }

        /** Returns whether all of it was there. */
        private boolean apply(final LogSegmentPath segment) throws IOException
        {
            final Path file = segment.getPath();
            if (!Files.isReadable(file))
            {
                throw new AccessDeniedException(file.toString());
            }
            try
            {
                LogSegment.readSegmentFile(file.toFile(), segment.getStartEnd(), MOST_BYTES,
                    CorruptionPolicy.EXCEPTION, null, this::apply);
            }
            catch (final IOException | RuntimeException ex)
            {
                requireKnown(ex);
                damage.add(file + ": " + GroupChangeException.reason(ex));
                return false;
            }
            // The library takes a closed file that was cut short for one that ends there.
            final Matcher closed = CLOSED.matcher(file.getFileName().toString());
            if (closed.matches() && state.index() < Long.parseLong(closed.group(1)))
            {
                damage.add(file + ": ends with entry " + state.index() + ", and not with " + closed.group(1));
                return false;
            }
            return true;
        }

        private void apply(final LogEntryProto entry)
        {
            if (entry.getIndex() <= state.index())
            {
                return;
            }
            // The first entry of a log has number 0.
            if (entry.getIndex() != state.index() + 1)
            {
                throw new IllegalStateException("begins with entry " + entry.getIndex() + ", and what comes before " +
                    "it ends with " + state.index());
            }
            final MetaCommand command = !entry.hasStateMachineLogEntry() ? null : MetaCommandDescriptor.decode(
                "entry " + entry.getIndex(), entry.getStateMachineLogEntry().getLogData().toByteArray());
            state.apply(entry.getTerm(), entry.getIndex(), command);
        }

        private static void requireKnown(final Exception ex)
        {
            if (ex instanceof final MetaStoreException known && UNKNOWN_VERSION == known.category())
            {
                throw known;
            }
        }
    }
}
