package io.verbena.cli.shell;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.CommandOutput;
import io.verbena.cli.console.ExitStatus;
import org.jline.reader.CompletingParsedLine;
import org.jline.reader.EOFError;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The shell at a terminal: edits lines, remembers and completes them, and executes each. */
final class ShellTerminal
{
    private static final String OWNER_ONLY = "rw-------";

    private final ShellSession session;
    /** Of the line that was read last and its command; below 0 once that has ended. */
    private final AtomicInteger interrupts = new AtomicInteger(-1);

    ShellTerminal(final ShellSession session)
    {
        this.session = session;
    }

    /** Runs the shell at the terminal of this process. */
    int run(final CommandOutput out)
    {
        // The JDK's own system calls, not a library that is unpacked to a temporary folder.
        try (Terminal terminal = TerminalBuilder.builder().system(true).dumb(true).nativeSignals(true)
            .ffm(true).exec(true).jni(false).jna(false).jansi(false).build())
        {
            return run(terminal, out, history());
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(
                ExitStatus.UNAVAILABLE, "the terminal cannot be used (" + ex.getMessage() + ")", ex);
        }
    }

    /**
     * Runs the shell at any terminal.
     *
     * @param terminal of a person.
     * @param out      takes what is printed between lines.
     * @param history  file of lines that were typed, or null: they are remembered until the shell ends.
     */
    int run(final Terminal terminal, final CommandOutput out, final Path history)
    {
        final LineReaderBuilder builder = LineReaderBuilder.builder().terminal(terminal).appName("verbena")
            .parser((line, cursor, context) -> parse(line, cursor, context))
            .completer(new ShellCompleter(session))
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true) // '!' is a character like others
            .option(LineReader.Option.CASE_INSENSITIVE, false)
            .variable(LineReader.ERRORS, 0) // completes what was typed, not what it resembles
            .variable(LineReader.SECONDARY_PROMPT_PATTERN, "> ");
        if (null != history)
        {
            builder.variable(LineReader.HISTORY_FILE, history);
        }
        final LineReader reader = builder.build();
        // From here the reader takes Ctrl-C for itself, until it has a line: what comes to us then is for that line,
        // even if its command has not begun.
        reader.getWidgets().put(LineReader.CALLBACK_INIT, () ->
        {
            session.begin();
            interrupts.set(0);
            return true;
        });
        terminal.handle(Terminal.Signal.INT, (signal) -> onInterrupt());
        out.println("'help' lists the commands, Ctrl-D ends the shell.");
        out.flush();
        while (!session.isOver())
        {
            try
            {
                final String line = reader.readLine("verbena " + session.table() + "> ");
                if (Thread.interrupted())
                {
                    onInterrupt(); // which came to the reader when it had the line
                }
                session.execute(ShellWords.of(line).words(), "");
            }
            catch (final UserInterruptException ex)
            {
                continue; // the line is given up
            }
            catch (final EndOfFileException ex)
            {
                session.end();
            }
            finally
            {
                interrupts.set(-1);
            }
        }
        return ExitStatus.OK;
    }

    private void onInterrupt()
    {
        final int before = interrupts.get();
        if (before < 0)
        {
            return; // its command has ended, and no other line is read
        }
        interrupts.incrementAndGet();
        if (0 == before)
        {
            session.interrupt();
        }
        else
        {
            System.exit(ExitStatus.INTERRUPTED); // a command that the first one did not end
        }
    }

    private static ParsedLine parse(final String line, final int cursor, final Parser.ParseContext context)
    {
        final ShellWords words = ShellWords.of(line);
        if (words.isOpen() && Parser.ParseContext.ACCEPT_LINE == context)
        {
            throw new EOFError(-1, -1, words.open() + " is not closed");
        }
        return new Words(line, cursor, ShellWords.of(line.substring(0, cursor)));
    }

    /**
     * A line as the reader wants it: the words up to the cursor.
     *
     * @param line   that is edited.
     * @param cursor in the line.
     * @param before the words before the cursor.
     */
    private record Words(String line, int cursor, ShellWords before) implements CompletingParsedLine
    {
        private boolean isInWord()
        {
            return !before.words().isEmpty() && before.ends().getLast() == cursor;
        }

        @Override
        public String word()
        {
            return isInWord() ? before.words().getLast() : "";
        }

        @Override
        public int wordCursor()
        {
            return word().length();
        }

        @Override
        public int wordIndex()
        {
            return before.words().size() - (isInWord() ? 1 : 0);
        }

        @Override
        public List<String> words()
        {
            return before.words();
        }

        @Override
        public CharSequence escape(final CharSequence candidate, final boolean isComplete)
        {
            return candidate;
        }

        @Override
        public int rawWordCursor()
        {
            return isInWord() ? cursor - before.starts().getLast() : 0;
        }

        @Override
        public int rawWordLength()
        {
            return rawWordCursor();
        }
    }

    /** Where lines are remembered, readable by nobody else; null where there is no place. */
    private static Path history()
    {
        final Path file = Path.of(System.getProperty("user.home"), ".verbena", "shell-history");
        try
        {
            Files.createDirectories(file.getParent());
            if (!Files.exists(file))
            {
                Files.createFile(
                    file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY)));
            }
            return Files.isWritable(file) ? file : null;
        }
        catch (final IOException | UnsupportedOperationException ex)
        {
            return null;
        }
    }
}
