package io.verbena.load.demo;

import io.verbena.elle.history.HistoryRecorder;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;

/**
 * Numbers of the functions of elle's model {@code versioned-kv-map} in one recording. Not changed once it is made.
 */
final class RegisterFunctions
{
    /** A function, by the model's word for it. */
    enum Function
    {
        GET("get"),
        PUT("put"),
        PUT_IF_ABSENT("put-if-absent"),
        REPLACE("replace"),
        DELETE("delete"),
        DELETE_VERSION("delete-version"),
        GET_UNTIL("get-until"),
        EXISTS("exists"),
        PUT_UNTIL("put-until"),
        PUT_IF_ABSENT_UNTIL("put-if-absent-until"),
        PUT_IF_PRESENT_KEEP("put-if-present-keep"),
        EXPIRE("expire"),
        ELAPSE("elapse");

        private final String word;

        Function(final String word)
        {
            this.word = word;
        }

        String word()
        {
            return word;
        }
    }

    private final Map<Function, Integer> numbers = new EnumMap<>(Function.class);

    private RegisterFunctions()
    {
    }

    static RegisterFunctions in(final HistoryRecorder recorder) throws IOException
    {
        final RegisterFunctions functions = new RegisterFunctions();
        for (final Function function : Function.values())
        {
            functions.numbers.put(function, recorder.function(function.word()));
        }
        return functions;
    }

    int number(final Function function)
    {
        return numbers.get(function);
    }
}
