package io.verbena.resp.command;

import io.verbena.resp.codec.DecimalNumber;
import io.verbena.resp.codec.RespDecoder;

/** What arguments are, looked at where they lie. Stateless; allocates nothing. */
final class Arguments
{
    static final String SYNTAX_ERROR = "ERR syntax error";
    static final String NO_INTEGER = "ERR value is not an integer or out of range";

    private Arguments()
    {
    }

    /** Whether an argument is a word, given in upper case. */
    static boolean is(final RespDecoder arguments, final int i, final String word)
    {
        if (!arguments.isKept(i) || arguments.length(i) != word.length())
        {
            return false;
        }
        final byte[] bytes = arguments.array();
        final int offset = arguments.offset(i);
        for (int at = 0; at < word.length(); at++)
        {
            final byte letter = bytes[offset + at];
            if (word.charAt(at) != (letter >= 'a' && letter <= 'z' ? letter - ('a' - 'A') : letter))
            {
                return false;
            }
        }
        return true;
    }

    /** Whether an argument is a number of 64 bits. */
    static boolean isNumber(final RespDecoder arguments, final int i)
    {
        return arguments.isKept(i) &&
            DecimalNumber.isNumber(arguments.array(), arguments.offset(i), arguments.length(i));
    }

    /** The number that an argument is. */
    static long number(final RespDecoder arguments, final int i)
    {
        return DecimalNumber.parse(arguments.array(), arguments.offset(i), arguments.length(i));
    }
}
