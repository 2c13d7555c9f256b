package io.verbena.cli.cluster;

import io.verbena.cli.CommandFailedException;
import io.verbena.cli.ExitStatus;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/** Which record a command means, and how bytes are written. */
final class RecordOptions
{
    @Mixin
    private TableOption table;

    @Option(names = "--hex", description = "Keys and values are hex digits instead of text in UTF-8.")
    private boolean hex;

    @Parameters(index = "0", paramLabel = "KEY", description = "Key of the record.")
    private String key;

    String table()
    {
        return table.name();
    }

    byte[] key()
    {
        return bytes("KEY", key);
    }

    byte[] bytes(final String what, final String text)
    {
        try
        {
            return hex ? HexFormat.of().parseHex(text) : text.getBytes(StandardCharsets.UTF_8);
        }
        catch (final IllegalArgumentException ex)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, what + " '" + text + "': not an even number of hex digits", ex);
        }
    }

    String text(final byte[] bytes)
    {
        return hex ? HexFormat.of().formatHex(bytes) : new String(bytes, StandardCharsets.UTF_8);
    }

    /** The value: as an argument, or the bytes of a file, but not both. */
    byte[] value(final String value, final Path file)
    {
        if ((null == value) == (null == file))
        {
            throw new CommandFailedException(ExitStatus.USAGE, "give a VALUE or --file, and not both", null);
        }
        if (null == file)
        {
            return bytes("VALUE", value);
        }
        try
        {
            return Files.readAllBytes(file);
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.BAD_DATA, "--file " + file + ": cannot be read (" + ex + ")", ex);
        }
    }
}
