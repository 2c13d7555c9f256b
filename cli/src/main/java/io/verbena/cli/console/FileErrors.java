package io.verbena.cli.console;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Why a file could not be read or written, as text; the JDK's own messages are often only the file's name. Stateless.
 */
public final class FileErrors
{
    /** What the kernel says, in the locale that the launcher chooses, when nobody reads on. */
    private static final String NOBODY_READS = "Broken pipe";

    private FileErrors()
    {
    }

    /** @return whether nobody reads on: who reads a part, as {@code head} does, has what they want. */
    public static boolean isUnread(final IOException ex)
    {
        return NOBODY_READS.equals(ex.getMessage());
    }

    /** @return why, without the file's name. */
    public static String reason(final IOException ex)
    {
        return switch (ex)
        {
            case final NoSuchFileException _ -> "no such file or folder";
            case final AccessDeniedException _ -> "permission denied";
            case final NotDirectoryException _ -> "not a folder";
            case final FileAlreadyExistsException _ -> "there is something else in its place";
            case final FileSystemException system when system.getReason() != null -> system.getReason();
            case final CharacterCodingException _ -> "not text in UTF-8";
            default -> null == ex.getMessage() ? ex.toString() : ex.getMessage();
        };
    }
}
