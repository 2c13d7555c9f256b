package io.verbena.cli.record;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.FileErrors;
import io.verbena.cli.console.StandardStream;
import io.verbena.client.KvEntry;
import io.verbena.client.KvLimits;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/** Which record a command means, and how bytes are written. */
public final class RecordOptions
{
    private static final char REPLACEMENT = '\uFFFD';

    @Mixin
    private TableOption table;

    @Option(names = "--hex", description = "Keys and values are hex digits instead of text in UTF-8.")
    private boolean hex;

    @Option(names = "--key-hex", description = "The key is hex digits; the value is what it is without this option.")
    private boolean keyHex;

    @Option(names = "--json", description = "Print one JSON object, on one line: key, and what the command found or " +
        "did; bytes that are not text as key_hex, value_hex.")
    private boolean json;

    @Parameters(index = "0", paramLabel = "KEY", description = "Key of the record.")
    private String key;

    String table()
    {
        return table.name();
    }

    byte[] key()
    {
        return bytes("KEY", key, hex || keyHex, "--hex or --key-hex");
    }

    boolean isJson()
    {
        return json;
    }

    /** The line about this record, as far as it is known from the command line. */
    RecordJson json()
    {
        return new RecordJson().bytes(RecordText.KEY, key(), hex || keyHex);
    }

    /** Prints the version of a record that was written. */
    void printVersion(final long version, final PrintWriter out)
    {
        out.println(json ? json().number(RecordText.VERSION, version).line() : version);
    }

    /**
     * What is no UTF-8 on the command line comes here as replacement characters, by which different words become one:
     * so these are refused, and who means one writes it in hex.
     */
    public static byte[] bytes(final String what, final String text, final boolean isHex, final String instead)
    {
        try
        {
            if (isHex)
            {
                return HexFormat.of().parseHex(text);
            }
        }
        catch (final IllegalArgumentException ex)
        {
            throw new CommandFailedException(
                ExitStatus.USAGE, what + " '" + text + "': not hex digits, two for each byte", ex);
        }
        if (text.indexOf(REPLACEMENT) >= 0 || !RecordText.isEncodable(text))
        {
            throw new CommandFailedException(ExitStatus.USAGE, what + " is not text in UTF-8: use " + instead, null);
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Prints a value: exactly its bytes where a program reads them, else a line. */
    void print(final KvEntry entry, final boolean showsVersion, final CommandOutput out)
    {
        if (json)
        {
            out.println(json().bytes(RecordText.VALUE, entry.value(), hex)
                .number(RecordText.VERSION, entry.version()).line());
            return;
        }
        if (showsVersion)
        {
            out.print(entry.version() + "\t");
        }
        out.print(bytes(entry.value(), hex, out));
        if (showsVersion || hex || out.endsValues())
        {
            out.println();
        }
    }

    /** @return what to print for these bytes. */
    static byte[] bytes(final byte[] bytes, final boolean isHex, final CommandOutput out)
    {
        if (isHex)
        {
            return RecordText.hex(bytes).getBytes(StandardCharsets.US_ASCII);
        }
        return out.isTerminal() ? new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8) : bytes;
    }

    /** The value: as an argument, or the bytes of a file or of standard input, one of them. */
    byte[] value(final String value, final Path given, final boolean isInput)
    {
        if ((null == value ? 0 : 1) + (null == given ? 0 : 1) + (isInput ? 1 : 0) != 1)
        {
            throw new CommandFailedException(ExitStatus.USAGE, "give one of VALUE, --file and --stdin", null);
        }
        final Path file = isInput ? Path.of("-") : given;
        if (null == file)
        {
            return bytes("VALUE", value, hex, "--hex, --file or --stdin");
        }
        try
        {
            return content(StandardStream.input(file));
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.BAD_DATA, "--file " + file + ": cannot be read (" + FileErrors.reason(ex) + ")", ex);
        }
    }

    /** No more than shows whether it is too long: the file may be one without an end. */
    private static byte[] content(final Path file) throws IOException
    {
        try (InputStream in = Files.newInputStream(file))
        {
            final byte[] bytes = in.readNBytes(KvLimits.MAX_VALUE_BYTES + 1);
            if (bytes.length > KvLimits.MAX_VALUE_BYTES)
            {
                throw new CommandFailedException(ExitStatus.USAGE, "--file " + file + ": a value has at most " +
                    KvLimits.MAX_VALUE_BYTES + " bytes, and this file more", null);
            }
            return bytes;
        }
    }
}
