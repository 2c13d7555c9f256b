package io.verbena.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** What is said of a command line that cannot be, where the library's words are of programs. Stateless. */
final class UsageText
{
    private UsageText()
    {
    }

    /** @return what is wrong with a command line. */
    static String of(final ParameterException exception)
    {
        if (!(exception instanceof final UnmatchedArgumentException unmatched) || unmatched.getUnmatched().isEmpty())
        {
            return exception.getMessage();
        }
        final CommandSpec spec = exception.getCommandLine().getCommandSpec();
        final String word = "'" + unmatched.getUnmatched().getFirst() + "'";
        if (unmatched.isUnknownOption())
        {
            return "there is no option " + word + (spec.positionalParameters().isEmpty() ? guess(unmatched) :
                guess(unmatched) + "; put -- before a word that begins with '-' and is not an option");
        }
        return spec.subcommands().isEmpty() ? word + " is one argument too many" :
            "there is no command " + word + guess(unmatched);
    }

    /** Only what begins alike: the library finds something for every word, however far from it. */
    private static String guess(final UnmatchedArgumentException unmatched)
    {
        final String word = unmatched.getUnmatched().getFirst();
        final String start = word.substring(0, Math.min(word.length(), word.startsWith("--") ? 4 : 2));
        return unmatched.getSuggestions().stream().filter((guess) -> guess.startsWith(start)).findFirst()
            .map((guess) -> "; did you mean '" + guess + "'?").orElse("");
    }

    /** @return the number that a word is. */
    static int wholeInt(final String word)
    {
        final long number = wholeLong(word);
        if (number != (int)number)
        {
            throw new TypeConversionException("'" + word + "' is too large");
        }
        return (int)number;
    }

    /** @return the number that a word is. */
    static long wholeLong(final String word)
    {
        try
        {
            return Long.parseLong(word);
        }
        catch (final NumberFormatException ex)
        {
            throw new TypeConversionException("'" + word + "' is not a whole number" +
                (word.matches("[+-]?\\d+") ? " of 64 bits" : ""));
        }
    }
}
