package io.verbena.cli.shell;

import picocli.CommandLine;

import java.util.Map;
import java.util.function.Function;

/** Makes the command line of one line of the shell; implemented by the root of the commands, which knows them all. */
public interface ShellLines
{
    /**
     * Makes a command line with the commands of the shell.
     *
     * @param first    word of the line; all commands are there where it is none of theirs.
     * @param settings values of options that the line does not have, by names of the environment's variables.
     * @param parts    gives parts of commands, or null for those that the library is to make.
     * @param place    what each message of an error begins with, behind the name of the program.
     * @return a command line that answers each error with one line.
     */
    CommandLine line(String first, Map<String, String> settings, Function<Class<?>, Object> parts, String place);
}
