# One image for the api (the default), the worker and the herald command.
#   docker build -t herald .
#   docker run herald node apps/worker/dist/main.js

FROM node:24.21.0-slim AS modules
WORKDIR /herald
COPY package.json package-lock.json ./
COPY packages packages
COPY apps apps
RUN npm ci --omit=dev --ignore-scripts --workspace=@herald/api --workspace=@herald/worker --workspace=@herald/cli
RUN rm -r apps/*/src packages/*/src apps/console apps/build.js

FROM node:24.21.0-slim AS build
WORKDIR /herald
COPY package.json package-lock.json tsconfig.build.json tsconfig.base.json ./
COPY packages packages
COPY apps apps
RUN npm ci --ignore-scripts
ARG HERALD_COMMIT
RUN npm run build
RUN mkdir /built && cp -r --parents apps/*/dist /built

FROM node:24.21.0-slim
ENV NODE_ENV=production
# The collector stops a process more often and far shorter: docs/performance.md, "Pauses".
ENV NODE_OPTIONS=--max-semi-space-size=4
# The command herald.
ENV PATH=$PATH:/herald/node_modules/.bin
LABEL org.opencontainers.image.title=herald
LABEL org.opencontainers.image.description="Delivers signed webhooks for Task transitions."
LABEL org.opencontainers.image.version=0.2.0
LABEL org.opencontainers.image.licenses=MIT
LABEL org.opencontainers.image.base.name=docker.io/library/node:24.21.0-slim
WORKDIR /herald
COPY --from=modules /herald ./
COPY --from=build /built ./
# Nothing is written here: the file system may be read-only, and the user owns none of it. It is the image's user node;
# by a number, Kubernetes sees that it isn't root.
USER 1000:1000
# The api; the worker's pages for operators; those of the api.
EXPOSE 8080 8081 8082
# Both processes handle SIGTERM themselves and start no others, so they need no init.
CMD ["node", "apps/api/dist/main.js"]
