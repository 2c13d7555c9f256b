package io.verbena.rdma.ibverbs.library;

import io.verbena.rdma.verbs.RdmaException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Error numbers of Linux with what to do about them. */
public final class Errno
{
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EIO = 5;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EBUSY = 16;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int ENOSYS = 38;
    public static final int EOPNOTSUPP = 95;
    public static final int ENETUNREACH = 101;

    private static final Path LIMITS = Path.of("/proc/self/limits");

    private Errno()
    {
    }

    public static RdmaException failure(final String what, final int errno)
    {
        return new RdmaException(what + ": " + text(errno));
    }

    public static String text(final int errno)
    {
        return switch (errno)
        {
            case EPERM -> "not permitted (EPERM)";
            case ENOENT -> "not there (ENOENT)";
            case EIO -> "the device failed or was taken away (EIO): close everything and open it again";
            case ENOMEM -> "no memory, or the limit for locked memory is reached (ENOMEM): limit " + lockedLimit() +
                ", raise it with 'ulimit -l unlimited' or LimitMEMLOCK=infinity";
            case EACCES -> "no permission (EACCES): allow this user to read and write /dev/infiniband/uverbs*";
            case EBUSY -> "in use (EBUSY)";
            case ENODEV -> "the device is gone (ENODEV): close everything and open it again";
            case EINVAL -> "refused as invalid (EINVAL)";
            case ENOSYS -> "not supported (ENOSYS): the kernel lacks ib_uverbs, try 'modprobe ib_uverbs'";
            case EOPNOTSUPP -> "not supported by this device (EOPNOTSUPP)";
            case ENETUNREACH -> "no way there (ENETUNREACH): bring the network interface up that 'rdma link' shows";
            default -> "errno " + errno;
        };
    }

    /** @return the limit for locked memory of this process in the kernel's words. */
    public static String lockedLimit()
    {
        try
        {
            return Files.readAllLines(LIMITS).stream().filter(line -> line.startsWith("Max locked memory"))
                .map(line -> line.substring(25).strip().split("\\s+")[0]).findFirst().orElse("unknown");
        }
        catch (final IOException ex)
        {
            return "unknown";
        }
    }
}
