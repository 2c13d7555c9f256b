package io.verbena.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/**
 * Why a file could not be read or written, in words; the JDK's own messages are often only the file's name. Stateless.
 */
public final class FileErrors
{
    private FileErrors()
    {
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
            case final CharacterCodingException _ -> "no text in UTF-8";
            default -> null == ex.getMessage() ? ex.toString() : ex.getMessage();
        };
    }
}
