package io.verbena.rdma.soft.shared;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** How files of a fabric directory are made, filled and removed. */
public final class SharedFiles
{
    static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    static final Set<StandardOpenOption> CREATE =
        EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final int CHUNK_BYTES = 1 << 20;

    private SharedFiles()
    {
    }

    /** Written, not only sized: a hole in a memory file is a SIGBUS at the first touch that finds no memory. */
    static void fill(final FileChannel channel, final long offset, final long lengthBytes) throws IOException
    {
        final ByteBuffer zeros = ByteBuffer.allocate((int)Math.min(CHUNK_BYTES, lengthBytes));
        long done = 0;
        while (done < lengthBytes)
        {
            zeros.clear().limit((int)Math.min(zeros.capacity(), lengthBytes - done));
            done += channel.write(zeros, offset + done);
        }
    }

    public static void deleteQuietly(final Path file)
    {
        try
        {
            Files.deleteIfExists(file);
        }
        catch (final IOException ignore)
        {
            // The next opener finds it.
        }
    }
}
