package io.verbena.protocol.bootstrap;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes the names in a folder durable: a file that was synced is lost with its name all the same. Stateless. */
public final class SyncedNames
{
    private SyncedNames()
    {
    }

    /**
     * Syncs a folder; what was made, renamed or removed in it before outlives the host when this returns.
     *
     * @param folder that exists, and that this user may read.
     * @throws IOException when it cannot be opened, or the disk fails.
     */
    public static void sync(final Path folder) throws IOException
    {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ))
        {
            channel.force(true);
        }
    }
}
