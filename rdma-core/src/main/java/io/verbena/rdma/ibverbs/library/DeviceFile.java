package io.verbena.rdma.ibverbs.library;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The file by which programs open an RNIC. The library looks for it in several places and reports the last one, so
 * that a file that may not be opened comes out as one that is not there.
 */
public final class DeviceFile
{
    private static final Path CLASS = Path.of("/sys/class/infiniband_verbs");
    private static final Path FILES = Path.of("/dev/infiniband");

    private DeviceFile()
    {
    }

    /** @return null when the file can be opened, or nothing is known of it; else why not and what to do. */
    public static String problem(final String rnic)
    {
        return problem(rnic, CLASS, FILES);
    }

    public static String problem(final String rnic, final Path names, final Path files)
    {
        if (Files.isDirectory(names))
        {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(names, "uverbs*"))
            {
                for (final Path entry : entries)
                {
                    if (Files.readString(entry.resolve("ibdev")).strip().equals(rnic))
                    {
                        return problem(files.resolve(entry.getFileName()));
                    }
                }
            }
            catch (final IOException ex)
            {
                // Then the library reports what it finds.
                return null;
            }
        }
        return null;
    }

    private static String problem(final Path file)
    {
        if (!Files.exists(file))
        {
            return "there is no " + file + ": a container has to be given it (--device=" + file +
                "), elsewhere udev makes it";
        }
        return Files.isReadable(file) && Files.isWritable(file) ? null :
            "no permission (EACCES): allow this user to read and write " + file;
    }
}
