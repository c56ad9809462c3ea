// The types of requests and their answers by the paths of the API, and of its events. The type checker alone
// reads this file. `npm run check` makes `api.d.ts` from the API's description.

import type { Counts, HealthCounts, PauseList, QualityCount, Schedule, WorkerDocument, paths } from "./api";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The path of an endpoint as the API describes it, such as `/api/tasks/{id}`. */
export type Template = keyof paths & string;

/** A path with its parameters, as `pathOf` makes it; it knows its template. */
export type Path<T extends Template = Template> = string & { readonly template: T };

type Operation<T extends Template, M extends Method> = paths[T] extends { [name in Lowercase<M>]: infer O } ? O : never;

/** The templates that know a method. */
export type TemplateOf<M extends Method> = {
  [T in Template]: [Operation<T, M>] extends [never] ? never : T;
}[Template];

type Json<R> = R extends { content: { "application/json": infer J } } ? J : null;
type Good<R> = Json<R[keyof R & (200 | 201 | 202 | 204)]>;

/** The JSON that an endpoint answers; null where it answers none. */
export type AnswerOf<T extends Template, M extends Method = "GET"> =
  Operation<T, M> extends { responses: infer R } ? Good<R> : never;

type Request<O> = O extends { requestBody?: infer B } ? NonNullable<B> : never;

type Nullable<J> = { [K in keyof J]-?: null extends J[K] ? K : never }[keyof J];

/** A request as it is sent: a field that may be null may be left out, too, for null is its default. */
type Sent<J> = J extends unknown[]
  ? J
  : J extends object
    ? Omit<J, Nullable<J>> & { [K in Nullable<J>]?: Sent<J[K]> }
    : J;

/** The JSON that an endpoint reads. An empty object stands for none. */
export type BodyOf<T extends Template, M extends Method> = [Request<Operation<T, M>>] extends [never]
  ? Record<string, never>
  : Request<Operation<T, M>> extends { content: { "application/json": infer J } } ? Sent<J> : never;

type NamesIn<T extends string> = T extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never;
type QueryOf<T extends Template> =
  Operation<T, "GET"> extends { parameters: { query?: infer Q } } ? keyof NonNullable<Q> : never;

/** A value in a path or query; an empty one is left out. */
export type Value = string | number | boolean | null | undefined;

type Parameters<T extends Template> = { [name in NamesIn<T>]: string | number } & { [name in QueryOf<T>]?: Value };

/** The parameters of a template; they may be missing where it has none in its path. */
export type Given<T extends Template> =
  NamesIn<T> extends never ? [parameters?: Parameters<T>] : [parameters: Parameters<T>];

/** The data of an answer that was read: of `Answer<T>` the `T`. */
export type Data<A extends { data: unknown }> = NonNullable<A["data"]>;

/** A run that began or ended. */
export interface TaskEvent {
  /** `claimed`, or the run's outcome. */
  event: string;
  at: string;
  task_id: number;
  fence: number;
  role: string | null;
  dispensary_id: number | null;
  worker_id: string;
  error: string | null;
  seconds: number | null;
}

/** A worker as its heartbeat describes it, or that it is gone. */
export type WorkerEvent = (WorkerDocument & { gone?: undefined }) | { worker_id: string; gone: true };

/** The data of events by their topic; `again` stands for anything that may have happened. */
export interface Events {
  task: TaskEvent;
  counts: Counts;
  worker: WorkerEvent;
  schedule: Schedule | { name: string; gone: true };
  proxies: HealthCounts;
  rollups: unknown;
  quality: QualityCount[];
  pauses: PauseList;
  /** Changes of prices and stock were published. */
  changes: { newest: string };
  again: null;
}

export type Topic = keyof Events;
