package io.verbena.load.demo;

import io.verbena.elle.history.HistoryRecorder;

import java.io.IOException;

/**
 * Numbers of the functions of elle's model {@code versioned-kv-map} in one recording.
 */
record RegisterFunctions(int get, int put, int putIfAbsent, int replace, int delete, int deleteVersion)
{
    static RegisterFunctions in(final HistoryRecorder recorder) throws IOException
    {
        return new RegisterFunctions(
            recorder.function("get"),
            recorder.function("put"),
            recorder.function("put-if-absent"),
            recorder.function("replace"),
            recorder.function("delete"),
            recorder.function("delete-version"));
    }

    /**
     * For messages.
     */
    String name(final int function)
    {
        return function == get ? "get" :
            function == put ? "put" :
            function == putIfAbsent ? "put-if-absent" :
            function == replace ? "replace" : "delete";
    }
}
