package io.verbena.cli.record;

import io.verbena.cli.console.FileErrors;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/**
 * A file that is replaced when all is written, and stays as it was until then: behind symbolic links, with the rights
 * and the owner that it had. What is no file of bytes on a disk, such as a named pipe, is written as it stands. Used by
 * one thread, closed by whoever opened it.
 */
final class DumpFile implements AutoCloseable
{
    /** Where a name leads that the shell has redirected; not followed for a file that only lies there. */
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final int MAX_LINKS = 40;
    private static final int MAX_NAME_LENGTH = 50;

    private final OutputStream out;
    private final Path partial;
    private final Path target;
    private final boolean isStandardOutput;

    private DumpFile(
        final OutputStream out, final Path partial, final Path target, final boolean isStandardOutput)
    {
        this.out = out;
        this.partial = partial;
        this.target = target;
        this.isStandardOutput = isStandardOutput;
    }

    /**
     * Opens it; for a named pipe this waits until somebody reads.
     *
     * @param file there or not.
     * @throws IOException when it cannot be written.
     */
    static DumpFile open(final Path file) throws IOException
    {
        if (!Files.exists(file))
        {
            return replacing(behindLinks(file), null);
        }
        if (Files.exists(STANDARD_OUTPUT) && Files.isSameFile(file, STANDARD_OUTPUT))
        {
            return new DumpFile(new FileOutputStream(FileDescriptor.out), null, file, true);
        }
        if (!Files.isRegularFile(file))
        {
            return new DumpFile(Files.newOutputStream(file, StandardOpenOption.WRITE), null, file, false);
        }
        if (!Files.isWritable(file))
        {
            throw new AccessDeniedException(file.toString());
        }
        return replacing(file.toRealPath(), Files.readAttributes(file, PosixFileAttributes.class));
    }

    /** Of a link that leads to nothing, the place where it leads. */
    private static Path behindLinks(final Path file) throws IOException
    {
        Path place = file.toAbsolutePath();
        for (int i = 0; Files.isSymbolicLink(place); i++)
        {
            if (MAX_LINKS == i)
            {
                throw new FileSystemException(file.toString(), null, "too many symbolic links");
            }
            place = place.resolveSibling(Files.readSymbolicLink(place));
        }
        return place;
    }

    private static DumpFile replacing(final Path target, final PosixFileAttributes old) throws IOException
    {
        final String name = target.getFileName().toString();
        // A name of its own: FILE.partial may be somebody's, and two may dump at once. The rights of a new file.
        final Path partial = Files.createTempFile(target.getParent(),
            '.' + (name.length() <= MAX_NAME_LENGTH ? name : "dump") + '.', ".partial",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-rw-rw-")));
        partial.toFile().deleteOnExit(); // Ctrl-C
        if (null != old)
        {
            final PosixFileAttributeView view = Files.getFileAttributeView(partial, PosixFileAttributeView.class);
            view.setPermissions(takeOwner(view, old) ? old.permissions() : withoutGroup(old.permissions()));
        }
        return new DumpFile(Files.newOutputStream(partial), partial, target, false);
    }

    /** The rights of a group that is another one now were not meant for it. */
    private static Set<PosixFilePermission> withoutGroup(final Set<PosixFilePermission> permissions)
    {
        final Set<PosixFilePermission> others = EnumSet.noneOf(PosixFilePermission.class);
        others.addAll(permissions);
        others.removeAll(PosixFilePermissions.fromString("---rwx---"));
        return others;
    }

    /** Returns whether the group is the one that the file had. */
    private static boolean takeOwner(
        final PosixFileAttributeView view, final PosixFileAttributes old) throws IOException
    {
        final PosixFileAttributes own = view.readAttributes();
        try
        {
            if (!own.group().equals(old.group()))
            {
                view.setGroup(old.group());
            }
            if (!own.owner().equals(old.owner()))
            {
                view.setOwner(old.owner());
            }
        }
        catch (final FileSystemException ex)
        {
            // Only root may: it is ours then, as with any program that replaces files.
        }
        return view.readAttributes().group().equals(old.group());
    }

    /** @return takes the bytes; must be flushed before {@link #complete}. */
    OutputStream out()
    {
        return out;
    }

    /** @return whether the bytes go to where a command says what it has done. */
    boolean isStandardOutput()
    {
        return isStandardOutput;
    }

    /** @return whether a failure to write is none, as for what commands print: who reads standard output has left. */
    boolean isLeft(final IOException failure)
    {
        return isStandardOutput && FileErrors.isUnread(failure);
    }

    /** All is written: the file is replaced. */
    void complete() throws IOException
    {
        if (!isStandardOutput)
        {
            out.close();
        }
        if (null != partial)
        {
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Leaves the file as it was, unless all was written. */
    @Override
    public void close() throws IOException
    {
        if (!isStandardOutput)
        {
            out.close();
        }
        if (null != partial)
        {
            Files.deleteIfExists(partial);
        }
    }
}
