package io.verbena.meta.raft;

import io.verbena.meta.store.MetaStoreException;
import io.verbena.protocol.bootstrap.SyncedNames;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;

import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.READ_ONLY;

/**
 * Name of a member that came after its group was made. It is drawn when its folder is made and stays beside it, so a
 * server whose disk was lost is another member afterwards: nobody counts the votes that the one before gave and that
 * this one does not know of.
 */
final class MemberName
{
    private static final String SUFFIX = ".member";
    private static final int LENGTH_BYTES = 8;

    private MemberName()
    {
    }

    /**
     * Reads the name, or draws one when neither it nor the folder is there.
     *
     * @param folder of the member's log.
     * @return the name, on disk.
     * @throws MetaStoreException when the file is damaged, absent beside a folder, or cannot be written.
     */
    static String of(final Path folder)
    {
        final Path file = folder.resolveSibling(folder.getFileName() + SUFFIX);
        try
        {
            if (Files.exists(file))
            {
                final String name = Files.readString(file, StandardCharsets.US_ASCII).strip();
                if (!name.matches("meta-[0-9a-f]{" + 2 * LENGTH_BYTES + '}'))
                {
                    throw new MetaStoreException(
                        CORRUPT, "file " + file + " is damaged: it has no member's name", null);
                }
                return name;
            }
            if (Files.exists(folder))
            {
                throw new MetaStoreException(CORRUPT, "folder " + folder + " has a log, and " + file + ", which says " +
                    "whose it is, is not there: copy both, or join with an empty folder and remove the member that " +
                    "this was", null);
            }
            return draw(file);
        }
        catch (final IOException ex)
        {
            throw new MetaStoreException(READ_ONLY, "file " + file + " cannot be used (" + ex + "): give this user " +
                "the rights", ex);
        }
    }

    private static String draw(final Path file) throws IOException
    {
        final byte[] random = new byte[LENGTH_BYTES];
        new SecureRandom().nextBytes(random);
        final String name = "meta-" + HexFormat.of().formatHex(random);
        final Path unfinished = file.resolveSibling(file.getFileName() + ".unfinished");
        try (FileChannel channel = FileChannel.open(unfinished, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING))
        {
            final ByteBuffer bytes = ByteBuffer.wrap((name + '\n').getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining())
            {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        SyncedNames.sync(file.toAbsolutePath().getParent());
        return name;
    }
}
