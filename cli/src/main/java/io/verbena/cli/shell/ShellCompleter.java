package io.verbena.cli.shell;

import org.jline.builtins.Completers;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Completes commands, their options, names of tables, and names of files. */
final class ShellCompleter implements Completer
{
    private static final Set<String> TABLE_COMMANDS = Set.of("use", "table stat", "table drop", "table check");

    private final ShellSession session;
    private final Completer files = new Completers.FileNameCompleter();

    ShellCompleter(final ShellSession session)
    {
        this.session = session;
    }

    @Override
    public void complete(final LineReader reader, final ParsedLine line, final List<Candidate> candidates)
    {
        final List<String> before = line.words().subList(0, line.wordIndex());
        CommandLine command = session.line("", "");
        int depth = 0;
        while (depth < before.size() && command.getSubcommands().containsKey(before.get(depth)))
        {
            command = command.getSubcommands().get(before.get(depth));
            depth++;
        }
        final CommandSpec spec = command.getCommandSpec();
        final OptionSpec option = before.size() > depth ? spec.findOption(before.getLast()) : null;
        if (null != option && option.arity().max() > 0)
        {
            completeValue(option, reader, line, candidates);
        }
        else if (line.word().startsWith("-"))
        {
            spec.options().stream().filter((known) -> !known.hidden())
                .forEach((known) -> add(candidates, known.longestName()));
        }
        else if (before.size() == depth && !command.getSubcommands().isEmpty())
        {
            command.getSubcommands().keySet().forEach((name) -> add(candidates, name));
        }
        else if (before.size() == depth && TABLE_COMMANDS.contains(String.join(" ", before)))
        {
            session.tables().forEach((name) -> add(candidates, name));
        }
        else if (List.of("help").equals(before))
        {
            session.line("", "").getSubcommands().keySet().forEach((name) -> add(candidates, name));
        }
    }

    private void completeValue(
        final OptionSpec option, final LineReader reader, final ParsedLine line, final List<Candidate> candidates)
    {
        if ("--table".equals(option.longestName()))
        {
            session.tables().forEach((name) -> add(candidates, name));
        }
        else if (Path.class == option.type() || File.class == option.type())
        {
            files.complete(reader, line, candidates);
        }
        else if (null != option.completionCandidates())
        {
            option.completionCandidates().forEach((name) -> add(candidates, name));
        }
    }

    private static void add(final List<Candidate> candidates, final String word)
    {
        candidates.add(new Candidate(word));
    }
}
