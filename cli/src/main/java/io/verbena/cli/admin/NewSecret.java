package io.verbena.cli.admin;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.protocol.access.SecretVerifier;
import io.verbena.protocol.access.UserSecret;
import io.verbena.protocol.bootstrap.UserLogin;
import io.verbena.rdma.connection.SecretLine;

import picocli.CommandLine.Option;

import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.nio.CharBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Where the secret of a user comes from: never from the command line, which other users of the host can read. */
public final class NewSecret
{
    private static final String STANDARD_INPUT = "-";

    @Option(names = "--new-secret-file", paramLabel = "FILE", description = "File whose first line is the secret; " +
        "'-' is standard input. Default: it is asked for twice.")
    private String file;

    /** Reads it, or asks for it; what is left of it is what a server keeps. */
    SecretVerifier read(final String user)
    {
        return null == file ? ask(user) : firstLine();
    }

    private static SecretVerifier verifier(final CharSequence secret)
    {
        if (null != UserLogin.problem(secret))
        {
            throw new CommandFailedException(ExitStatus.BAD_DATA, UserLogin.problem(secret), null);
        }
        return SecretVerifier.of(secret);
    }

    private SecretVerifier firstLine()
    {
        // No more than can be one.
        try (InputStream in = STANDARD_INPUT.equals(file) ? System.in : Files.newInputStream(Path.of(file));
            SecretLine line = SecretLine.read(in, 2 * UserSecret.MAX_BYTES))
        {
            return verifier(line.text());
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.BAD_DATA, "--new-secret-file " + file + " cannot be read: " + ex.getMessage(), ex);
        }
    }

    private static SecretVerifier ask(final String user)
    {
        final Console console = System.console();
        if (null == console || !console.isTerminal())
        {
            throw new CommandFailedException(ExitStatus.USAGE, "no secret of user '" + user +
                "': give --new-secret-file FILE, or - for standard input", null);
        }
        final char[] first = console.readPassword("secret of %s: ", user);
        final char[] second = console.readPassword("once more: ");
        try
        {
            if (null == first || !Arrays.equals(first, second))
            {
                throw new CommandFailedException(ExitStatus.USAGE, "these were not the same", null);
            }
            return verifier(CharBuffer.wrap(first));
        }
        finally
        {
            wipe(first);
            wipe(second);
        }
    }

    /** @param letters null at the end of the input. */
    private static void wipe(final char[] letters)
    {
        if (null != letters)
        {
            Arrays.fill(letters, '\0');
        }
    }
}
